"""Trains a scenario's model for some steps with floats of a type, then says what the engine itself counts of a step.

python truth.py mlp float32 16       model, type of floats, batch; prints one line of JSON
"""

import functools
import importlib
import json
import os
import sys

import numpy as np

SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scenarios")
sys.path.insert(0, SCENARIOS)

import keras  # noqa: E402
import workload  # noqa: E402

SIZES = {
    "mlp": [], "cnn": [], "lstm": ["--tokens", "20", "--words", "500"], "transformer": ["--tokens", "32", "--words", "500"],
    "resnet50": ["--image-size", "224"],
}  # fmt: skip
STEPS = {"resnet50": 8}
USUAL_STEPS = 16


def main():
    """Train, count, print."""
    name, kind, batch = sys.argv[1], sys.argv[2], int(sys.argv[3])
    engine = keras.backend.backend()
    watching = [StepsOfTensorFlow()] if engine == "tensorflow" else []
    model, rows, labels = made(name, kind, batch)
    model.fit(rows, labels, batch_size=batch, epochs=2, shuffle=False, verbose=0, callbacks=watching)
    told = {
        "parameters": int(model.count_params()),
        "trained": sum(int(np.prod(shape(one))) for one in model.trainable_weights),
    }
    told.update(watching[0].told() if watching else ACCOUNTS[engine](model, rows[:batch], labels[:batch]))
    if engine in COUNTERS:
        if name == "lstm":  # counters look at the body of a loop once, or not at all
            module = importlib.import_module(name)
            module.LSTM = functools.partial(module.LSTM, unroll=True)
            model, rows, labels = made(name, kind, batch)
        told["flops"] = COUNTERS[engine](model, rows[:batch], labels[:batch])
    print(json.dumps(told))


def shape(weight):
    """Of Keras 2 and 3."""
    return tuple(int(length) for length in getattr(weight, "_keras_shape", weight.shape))


def made(name, kind, batch):
    """A compiled model with data, as the scenario makes them."""
    keras.backend.set_floatx(kind)
    if hasattr(keras, "config"):
        keras.config.set_dtype_policy(kind)
    if keras.backend.backend() == "mxnet" and kind != "float32":
        workload.set_weights = lambda model, args: (
            None
        )  # keras-mxnet makes 32 bits of what it is given, and refuses them
    caught = []
    module = importlib.import_module(name)
    workload.run = lambda model, rows, labels, args: caught.extend((model, rows, labels))
    if name == "mlp":
        module.train = lambda model, rows, labels, epochs, size: caught.extend((model, rows, labels)) or 0.0
    samples = STEPS.get(name, USUAL_STEPS) * batch
    sys.argv = [name, "--samples", str(samples), "--batch-size", str(batch), "--no-dropout", *SIZES[name]]
    module.main()
    model, rows, labels = caught[:3]
    rows, labels = (one.astype(kind) if one.dtype.kind == "f" else one for one in (rows, labels))
    return model, rows, labels


# -- what a step holds, as each engine itself says ---------------------------------------------------------


def saved_by_torch(model, rows, labels):
    """Distinct storages that hooks of saved tensors are given in a forward pass, but for weights."""
    import torch

    own = {one.value.untyped_storage().data_ptr() for one in model.weights}
    saved, kept = {}, []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage.nbytes()
            kept.append(tensor.detach())  # so that no other one takes its place
        return tensor.detach()

    x, y = keras.ops.convert_to_tensor(rows), keras.ops.convert_to_tensor(labels)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one):
        model.compute_loss(x, y, model(x, training=True), None, training=True)
    return {"account": sum(saved.values()), "of": "saved for the backward pass, with the batch"}


def planned_by_xla(model, rows, labels):
    """Temporaries of Keras' own step, compiled once more, by XLA's memory analysis."""
    import jax

    parts = (
        model.trainable_variables,
        model.non_trainable_variables,
        model.optimizer.variables,
        model.metrics_variables,
    )
    state = tuple([one.value for one in part] for part in parts)
    compiled = jax.jit(model.train_step, donate_argnums=0).lower(state, (rows, labels)).compile()
    return {"account": compiled.memory_analysis().temp_size_in_bytes, "of": "temporaries of a step"}


class StepsOfTensorFlow(keras.callbacks.Callback):
    """What the allocator of the CPU counts at most in each step, less what it had before."""

    def __init__(self):
        super().__init__()
        import tensorflow as tf

        # Operators side by side come in another order in each step, and the peak of its memory with them.
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self._counts, self._before, self._peaks = tf.config.experimental, 0, []

    def on_train_batch_begin(self, batch, logs=None):
        self._counts.reset_memory_stats("CPU:0")
        self._before = self._counts.get_memory_info("CPU:0")["current"]

    def on_train_batch_end(self, batch, logs=None):
        self._peaks.append(self._counts.get_memory_info("CPU:0")["peak"] - self._before)

    def told(self):
        """The middle one of the steps that a window takes: five plain ones, then ten, of which the first is left out."""
        steady = sorted(self._peaks[6:15])
        return {"account": steady[len(steady) // 2], "of": "peak of a step, less what was there before"}


def planned_by_mxnet(model, rows, labels):
    """The plan of the executor that was bound for training."""
    import re

    module = model._module
    module = getattr(module, "_buckets", {}).get("train", None) or getattr(module, "_curr_module", None) or module
    planned = [
        int(re.search(r"Total (\d+) MB allocated", one.debug_str()).group(1)) for one in module._exec_group.execs
    ]
    return {"account": sum(planned) << 20, "of": "planned, in whole MiB"}


# -- products of a step, as each engine itself counts them -------------------------------------------------


def by_torch(model, rows, labels):
    """`flop_counter` of a forward and a backward pass; attention by products that it knows, not by one kernel."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    x, y = keras.ops.convert_to_tensor(rows), keras.ops.convert_to_tensor(labels)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        model.compute_loss(x, y, model(x, training=True), None, training=True).backward()
    return counter.get_total_flops()


def by_xla(model, rows, labels):
    """XLA's cost analysis of each product in the gradients, and of the whole with what works on each value."""
    import jax

    fixed = [one.value for one in model.non_trainable_variables]

    def loss(weights, x, y):
        told, _ = model.stateless_call(weights, fixed, x, training=True)
        return model.compute_loss(x, y, told)

    weights = [one.value for one in model.trainable_variables]
    return of_products(jax.make_jaxpr(jax.grad(loss))(weights, rows, labels).jaxpr)


def of_products(program):
    """Sum over the products of a program of JAX, and of the programs in it."""
    import jax
    from jax._src.core import jaxprs_in_params

    total = 0.0
    for one in program.eqns:
        times = one.params.get("length", 1) if one.primitive.name == "scan" else 1
        total += times * sum(of_products(inner) for inner in jaxprs_in_params(one.params))
        if one.primitive.name in ("dot_general", "conv_general_dilated"):
            shapes = [jax.ShapeDtypeStruct(given.aval.shape, given.aval.dtype) for given in one.invars]
            alone = jax.jit(functools.partial(one.primitive.bind, **one.params)).lower(*shapes)
            total += alone.cost_analysis()["flops"]
    return total


def by_tensorflow(model, rows, labels):
    """The profiler's count of products in the graph of the gradients."""
    import tensorflow as tf

    @tf.function
    def gradients(x, y):
        with tf.GradientTape() as tape:
            loss = model.compute_loss(x, y, model(x, training=True), None, training=True)
        return tape.gradient(loss, model.trainable_variables)

    graph = gradients.get_concrete_function(tf.constant(rows), tf.constant(labels)).graph
    options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
    options["output"] = "none"
    waiting, total = [tf.compat.v1.profiler.profile(graph, cmd="scope", options=options)], 0.0
    counted = set()
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        if node.float_ops and node.name not in counted:
            counted.add(node.name)
            total += node.float_ops * share(graph.get_operation_by_name(node.name))
    return total


PRODUCTS = ("MatMul", "BatchMatMul", "BatchMatMulV2", "Einsum", "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")


def share(operation):
    """Of what the profiler counts for an operator, how much is products.

    Gradients of a convolution are counted as if there was a product at each place of the input; without padding there
    are fewer places.
    """
    if operation.type not in PRODUCTS:
        return 0.0
    if operation.type not in ("Conv2DBackpropInput", "Conv2DBackpropFilter"):
        return 1.0
    given, strides = operation.inputs[2].shape.as_list(), operation.get_attr("strides")
    image = (operation.outputs if operation.type == "Conv2DBackpropInput" else operation.inputs)[0].shape.as_list()
    return min(1.0, given[1] * given[2] * strides[1] * strides[2] / (image[1] * image[2]))


ACCOUNTS = {"torch": saved_by_torch, "jax": planned_by_xla, "mxnet": planned_by_mxnet}
COUNTERS = {"torch": by_torch, "jax": by_xla, "tensorflow": by_tensorflow}

if __name__ == "__main__":
    main()
