"""The smallest programs of each engine that compile and run something: for real ones and stand-ins alike (Python 3.6)."""

import contextlib
import importlib
import os
import sys
import types


class Program(object):
    """One engine at work.

    Attributes:
        name: Of the engine.
        module: Its top-level module.
        modules: Modules that its hooks wait for.
        compilers: How many functions of it are hooked that compile the program; 0: it compiles nothing.
        tells_causes: Whether it is told why something is compiled again.
        alone: Whether its windows are those of a script without Keras; else Keras runs on it.
        mode: As `--kernels`.
        switch: A switch for debugging; None: it has none.
        settings: Those of a trial run; empty: it takes none.
        tells_threads: Whether its number of threads is known.
    """

    name = module = ""
    modules = ()
    compilers = 1
    tells_causes = True
    alone = True
    mode = "windows"
    switch = None
    settings = {}
    tells_threads = False

    def load(self):
        """Import all that is hooked."""
        for name in self.modules:
            importlib.import_module(name)

    def watched(self, engine, keras):
        """The engine is used by itself, or by Keras."""
        if self.alone:
            engine.alone()
        else:
            engine.under_keras(keras)

    def compiling(self):
        """A function from a number of rows to a result, which is compiled for each number."""
        return lambda rows: [3.0] * rows

    def stepping(self):
        """A function that is one step."""
        call = self.compiling()
        return lambda: call(2)

    @contextlib.contextmanager
    def switched_on(self):
        """With `switch` set."""
        yield

    def value(self):
        """Of what `settings` set."""

    def set_by_script(self):
        """Set it otherwise, as a script would."""

    def restore(self, value):
        """Set it as it was."""


class Torch(Program):
    name = module = "torch"
    modules = ("torch", "torch._dynamo.convert_frame")
    switch = "torch.autograd.set_detect_anomaly"
    settings = {"threads": 1, "flags_off": ["torch.autograd.set_detect_anomaly", "torch.use_deterministic_algorithms"]}
    tells_threads = True

    def watched(self, engine, keras):
        import torch

        self._model = torch.nn.Sequential()
        self._model.add_module("scale", torch.nn.Linear(2, 2))
        assert engine.named_layers(self._model) == [{"name": "scale", "class": "Linear", "trained": True}]
        engine.alone()

    def compiling(self):
        import torch

        torch._dynamo.reset()

        def scaled(value):
            return value * 2 + 1

        compiled = torch.compile(scaled, backend="eager", dynamic=False)
        return lambda rows: compiled(torch.ones(rows)).tolist()

    def stepping(self):
        import torch

        return lambda: self._model(torch.ones(1, 2)).tolist()

    @contextlib.contextmanager
    def switched_on(self):
        import torch

        torch.autograd.set_detect_anomaly(True)
        yield
        torch.autograd.set_detect_anomaly(False)

    def value(self):
        import torch

        return [torch.get_num_threads(), torch.is_anomaly_enabled(), torch.are_deterministic_algorithms_enabled()]

    def set_by_script(self):
        import torch

        torch.set_num_threads(2)
        torch.autograd.set_detect_anomaly(True)
        with torch.autograd.detect_anomaly():
            pass
        torch.use_deterministic_algorithms(True)

    def restore(self, value):
        import torch

        torch.set_num_threads(value[0])
        torch.autograd.set_detect_anomaly(value[1])
        torch.use_deterministic_algorithms(value[2])


class Jax(Program):
    name = module = "jax"
    modules = ("jax",)
    switch = "jax_debug_nans"
    settings = {"flags_off": ["jax_debug_nans"]}

    def compiling(self):
        import jax
        import numpy

        def scaled(value):
            return value * 2 + 1

        compiled = jax.jit(scaled)
        return lambda rows: numpy.asarray(compiled(numpy.ones(rows, "float32"))).tolist()

    @contextlib.contextmanager
    def switched_on(self):
        import jax

        jax.config.update("jax_debug_nans", True)
        yield
        jax.config.update("jax_debug_nans", False)

    def value(self):
        import jax

        return jax.config.jax_debug_nans

    def set_by_script(self):
        import jax

        jax.config.update("jax_debug_nans", True)

    def restore(self, value):
        import jax

        jax.config.update("jax_debug_nans", value)


class TensorFlow(Program):
    name = module = "tensorflow"
    modules = ("tensorflow",)
    switch = "tf.config.run_functions_eagerly"
    settings = {
        "threads": 1,
        "flags_off": [
            "tf.config.run_functions_eagerly",
            "tf.debugging.enable_check_numerics",
            "tf.config.experimental.enable_op_determinism",
        ],
        "autotune": False,
    }
    tells_threads = True

    def compiling(self):
        import tensorflow as tf

        compiled = tf.function(lambda value: value * 2 + 1)
        return lambda rows: compiled(tf.constant([1.0] * rows)).numpy().tolist()

    @contextlib.contextmanager
    def switched_on(self):
        import tensorflow as tf

        tf.config.run_functions_eagerly(True)
        yield
        tf.config.run_functions_eagerly(False)

    def value(self):
        import tensorflow as tf

        return [
            int(tf.config.functions_run_eagerly()),
            [int(one) for one in tf.data.Dataset.from_tensor_slices([1, 2])],
        ]

    def set_by_script(self):
        import tensorflow as tf

        tf.config.run_functions_eagerly(True)

    def restore(self, value):
        import tensorflow as tf

        tf.config.run_functions_eagerly(bool(value[0]))


class TensorFlow1(Program):
    name = "tensorflow1"
    module = "tensorflow"
    modules = ("tensorflow",)
    alone = False
    settings = {}
    tells_threads = True

    def compiling(self):
        import numpy
        from tensorflow.core.protobuf import config_pb2

        tf = sys.modules["tensorflow"].compat.v1
        graph = tf.Graph()
        with graph.as_default():
            value = tf.placeholder("float32", [None], name="value")
            shift = tf.placeholder_with_default(numpy.float32(1), [], name="shift")
            result = tf.add(tf.multiply(value, numpy.float32(2)), shift, name="result")
        session = tf.Session(graph=graph)
        made = {}

        def call(rows):
            # As Keras: a callable for each set of inputs; the second program feeds one more.
            if rows not in made:
                options = config_pb2.CallableOptions()
                options.fetch.append(result.name)
                options.feed.append(value.name)
                if rows > 2:
                    options.feed.append(shift.name)
                made[rows] = session._make_callable_from_options(options)
            feeds = [numpy.ones(rows, "float32"), numpy.float32(1)]
            return made[rows](*feeds[: 2 if rows > 2 else 1])[0].tolist()

        self._run = lambda: session.run(result, {value: numpy.ones(2, "float32")}).tolist()
        return call

    def stepping(self):
        call = self.compiling()

        def step():
            call(2)
            assert self._run() == [3.0, 3.0]

        return step


class MXNet(Program):
    name = module = "mxnet"
    modules = ("mxnet", "mxnet.module.module")
    compilers = 2  # bind and reshape
    alone = False
    switch = "MXNET_EXEC_BULK_EXEC_TRAIN=0"
    tells_threads = True

    def compiling(self):
        import mxnet as mx

        module = mx.mod.Module(mx.sym.Variable("data") * 2 + 1, data_names=["data"], label_names=None)
        state = {}

        def call(rows):
            shapes = [("data", (rows,))]
            if not state:
                module.bind(shapes, None, False)
                module.init_params()
            elif state["rows"] != rows:
                module.reshape(shapes)
            state["rows"] = rows
            module.forward(mx.io.DataBatch([mx.nd.ones((rows,))]), is_train=False)
            return module.get_outputs()[0].asnumpy().tolist()

        self._kept = module  # what is bound is known by weak references
        return call

    @contextlib.contextmanager
    def switched_on(self):
        os.environ["MXNET_EXEC_BULK_EXEC_TRAIN"] = "0"
        yield
        del os.environ["MXNET_EXEC_BULK_EXEC_TRAIN"]


class Theano(Program):
    name = module = "theano"
    modules = ("theano",)
    tells_causes = False
    mode = "all"
    switch = "theano mode"
    tells_threads = True

    def compiling(self):
        import numpy
        import theano

        value = theano.tensor.vector("value", dtype="float32")
        made = {}

        def call(rows):
            if rows not in made:
                made[rows] = theano.function([value], value * numpy.float32(2) + numpy.float32(1), name="step")
            return made[rows](numpy.ones(rows, "float32")).tolist()

        return call

    @contextlib.contextmanager
    def switched_on(self):
        import theano

        before = theano.config.optimizer
        theano.config.optimizer = "fast_compile"
        yield
        theano.config.optimizer = before


class CNTK(Program):
    name = module = "cntk"
    modules = ("cntk",)
    tells_causes = False
    alone = False

    def compiling(self):
        import cntk
        import numpy

        trainers = {}

        def call(rows):
            if rows not in trainers:
                value, truth = cntk.input_variable(2), cntk.input_variable(1)
                given = cntk.layers.Dense(1, init=0.5, init_bias=0.5)(value)
                loss = cntk.squared_error(given, truth)
                learner = cntk.sgd(given.parameters, cntk.learning_parameter_schedule(0.0))
                trainers[rows] = cntk.Trainer(given, (loss, loss), [learner]), value, truth
            trainer, value, truth = trainers[rows]
            trainer.train_minibatch({value: numpy.ones((rows, 2), "float32"), truth: numpy.ones((rows, 1), "float32")})
            return [float(trainer.previous_minibatch_loss_average)] * rows

        return call


class Chainer(Program):
    name = module = "chainer"
    modules = ("chainer",)
    compilers = 0
    tells_causes = False

    def stepping(self):
        import chainer
        import numpy

        layer = chainer.links.Linear(2, 2, initialW=numpy.ones((2, 2), "float32"))
        optimizer = chainer.optimizers.SGD(lr=0.0)
        optimizer.setup(layer)

        def step():
            loss = chainer.functions.sum(layer(numpy.ones((1, 2), "float32")))
            layer.cleargrads()
            loss.backward()
            optimizer.update()
            return float(loss.array)

        return step


class OpenVINO(Program):
    name = module = "openvino"
    modules = ("openvino",)
    alone = False

    def compiling(self):
        import numpy
        import openvino

        operators = importlib.import_module("openvino.opset13")
        keras = types.ModuleType("keras.src.backend.openvino.trainer")
        exec("def compile_model(ov, model): return ov.compile_model(model, 'CPU', {})", vars(keras))
        made = {}

        def call(rows):
            if rows not in made:
                value = operators.parameter([rows], numpy.float32, name="value")
                result = operators.multiply(value, operators.constant([3.0] * rows, numpy.float32))
                made[rows] = keras.compile_model(openvino, openvino.Model([result], [value], "model"))
            return made[rows]([numpy.ones(rows, "float32")])[0].tolist()

        return call


PROGRAMS = dict(
    (one.name, one) for one in (Torch, Jax, TensorFlow, TensorFlow1, MXNet, Theano, CNTK, Chainer, OpenVINO)
)
