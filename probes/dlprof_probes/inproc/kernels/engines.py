"""The tracers of the engines. Each has `drain`, `start`, `stop` and `annotation`; all may raise."""

import glob
import importlib
import os
import re
import sys
import threading

from dlprof_probes.inproc.kernels.chainer import Chainer
from dlprof_probes.inproc.kernels.cntk import CNTK
from dlprof_probes.inproc.kernels.openvino import OpenVINO
from dlprof_probes.inproc.kernels.tensorflow1 import TensorFlow1
from dlprof_probes.inproc.kernels.tracer import Tracer, quiet


def make(backend, gpu, *helpers):
    """The tracer for the backend that Keras names; None: there is none.

    Args:
        backend: Name of the backend.
        gpu: Whether it may trace the GPU.
        helpers: What its class needs besides.
    """
    made = _ENGINES.get(backend)
    if made is None:
        return None
    tracer = made(*helpers)
    tracer.gpu = gpu
    return tracer


class TensorFlow(Tracer):
    """TensorFlow's profiler; its options are left alone, because newer versions only warn about them."""

    def __init__(self):
        self._profiler = sys.modules["tensorflow"].profiler.experimental
        self._folder = None

    def drain(self):
        """Wait for the devices; on the CPU functions run synchronously."""
        tensorflow = sys.modules["tensorflow"]
        if tensorflow.config.list_logical_devices("GPU"):
            tensorflow.test.experimental.sync_devices()

    def start(self, folder):
        """Begin to trace into `folder`, in the layout of TensorBoard."""
        self._folder = folder
        with quiet():
            self._profiler.start(folder)

    def stop(self):
        """End, and name the files."""
        with quiet():
            self._profiler.stop()
        return _xplanes(self._folder)


class Jax(Tracer):
    """JAX's profiler, without its Python tracer and without its slow and capped JSON."""

    def __init__(self):
        self._jax = sys.modules["jax"]
        self._folder = None
        self._session = None

    def drain(self):
        """Wait for every array that is alive."""
        for array in self._jax.live_arrays():
            if not array.is_deleted():
                array.block_until_ready()

    def start(self, folder):
        """Begin to trace into `folder`, in the layout of TensorBoard."""
        self._folder = folder
        options = self._jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        with quiet():
            self._session = _jax_session(options)
            if self._session is None:
                self._jax.profiler.start_trace(folder, profiler_options=options)

    def stop(self):
        """End, and name the files."""
        with quiet():
            if self._session is None:
                self._jax.profiler.stop_trace()
            else:
                data, self._session = self._session.stop(), None
                target = os.path.join(self._folder, "plugins", "profile", "window")
                os.makedirs(target)
                with open(os.path.join(target, "%s.xplane.pb" % os.uname().nodename), "wb") as out:
                    out.write(data)
        return _xplanes(self._folder)


def _jax_session(options):
    """A session that gives the trace as bytes, or None where this version of JAX has none."""
    try:
        return importlib.import_module("jax._src.lib")._profiler.ProfilerSession(options)
    except (ImportError, AttributeError, TypeError):
        return None


def _xplanes(folder):
    found = glob.glob(os.path.join(folder, "plugins", "profile", "*", "*.xplane.pb"))
    if not found:
        raise RuntimeError("the profiler wrote no trace")
    return found


class Torch(Tracer):
    """torch.profiler, without shapes and stacks, which cost more than the rest together.

    Args:
        module: Function that gives the module whose parts are to be named in the trace, or None; for scripts
            without Keras.
    """

    def __init__(self, module=None):
        self._torch = sys.modules["torch"]
        self._module = module
        self._named = None
        self._profiler = None
        self._path = None
        self._ident = None

    def drain(self):
        """Wait for the GPU, if there is one in use."""
        if self._torch.cuda.is_available() and self._torch.cuda.is_initialized():
            self._torch.cuda.synchronize()

    def start(self, folder):
        """Begin to trace."""
        profiler = self._torch.profiler
        activities = [profiler.ProfilerActivity.CPU]
        if self.gpu and self._torch.cuda.is_available():
            activities.append(profiler.ProfilerActivity.CUDA)
        self._path = os.path.join(folder, "trace.json")
        self._ident = threading.get_ident()
        with quiet():
            self._profiler = profiler.profile(activities=activities)
            self._profiler.start()
            # The first range of a process registers its operator, which takes some milliseconds.
            end = self.annotation("dlprof:start")
            if end is not None:
                end()
        root = self._module() if self._module is not None else None
        if root is not None:
            self._named = _NamedModules(self._torch, root, self.annotation)

    def stop(self):
        """End, write, and name the file."""
        if self._named is not None:
            self._named.remove()
            self._named = None
        with quiet():
            self._profiler.stop()
            self._profiler.export_chrome_trace(self._path)
        self._profiler = None
        return [self._path]

    def annotation(self, text):
        """Begin a range around a layer, the optimiser or the loss."""
        made = self._torch.profiler.record_function(text)
        made.__enter__()
        return lambda: made.__exit__(None, None, None)


class _NamedModules(object):
    """Ranges around the forward passes of the parts of a module, while it is in place."""

    def __init__(self, torch, root, annotation):
        self._names = dict((id(module), name) for name, module in root.named_modules() if name)
        self._annotation = annotation
        self._open = []
        hooks = torch.nn.modules.module
        self._handles = [
            hooks.register_module_forward_pre_hook(self._before),
            hooks.register_module_forward_hook(self._after),
        ]

    def _before(self, module, _inputs):
        name = self._names.get(id(module))
        self._open.append(self._annotation("dlprof:layer:" + name) if name else None)

    def _after(self, _module, _inputs, _output):
        end = self._open.pop() if self._open else None
        if end is not None:
            end()

    def remove(self):
        """Take it away again."""
        for handle in self._handles:
            handle.remove()


class MXNet(Tracer):
    """MXNet's profiler.

    MXNet runs several operators as one, and then the profiler sees one. So for the window each bound graph is
    bound once more to the same arrays, operator by operator; after it the first one takes over again.

    Args:
        modules: Function that gives the modules that are bound now.
        blocks: Function that gives the blocks of Gluon that are hybridized now.
    """

    def __init__(self, modules, blocks=list):
        self._mxnet = sys.modules["mxnet"]
        self._modules = modules
        self._path = None
        self._swapped = []
        self._blocks = blocks
        self._cached = []
        self._bulk_size = 0

    def drain(self):
        """Wait for the engine."""
        self._mxnet.nd.waitall()

    def start(self, folder):
        """Begin to trace."""
        self._path = os.path.join(folder, "profile.json")
        with quiet():
            self._unbulk()
        self._bulk_size = self._mxnet.engine.set_bulk_size(0)  # of what Gluon runs one by one
        profiler = self._mxnet.profiler
        profiler.set_config(
            filename=self._path, profile_symbolic=True, profile_imperative=True, profile_api=True,
            profile_memory=False, aggregate_stats=False, continuous_dump=False,
        )  # fmt: skip
        profiler.set_state("run")

    def stop(self):
        """End, write, and name the file."""
        self._mxnet.profiler.set_state("stop")
        self._mxnet.engine.set_bulk_size(self._bulk_size)
        while self._swapped:
            executors, index, original = self._swapped.pop()
            executors[index] = original
        while self._cached:
            block, original = self._cached.pop()
            block._cached_op = original
        self._mxnet.profiler.dump(True)
        _mend(self._path)
        return [self._path]

    def _unbulk(self):
        names = ("MXNET_EXEC_BULK_EXEC_TRAIN", "MXNET_EXEC_BULK_EXEC_INFERENCE")
        before = dict((name, os.environ.get(name)) for name in names)
        try:
            os.environ.update(dict.fromkeys(names, "0"))
            for module in self._modules():
                executors = getattr(getattr(module, "_exec_group", None), "execs", None) or []
                for index, original in enumerate(executors):
                    twin = original._symbol.bind(
                        original._ctx, args=original.arg_arrays, args_grad=original.grad_arrays,
                        grad_req=original._grad_req, aux_states=original.aux_arrays,
                    )  # fmt: skip
                    executors[index] = twin
                    self._swapped.append((executors, index, original))
            for block in self._blocks():
                flags = [(key, value) for key, value in block._flags if not key.endswith("_bulk_size")]
                flags += [("forward_bulk_size", 0), ("backward_bulk_size", 0)]
                self._cached.append((block, block._cached_op))
                block._cached_op = self._mxnet.nd.CachedOp(block._cached_graph[1], flags)
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


class Theano(Tracer):
    """Theano's profile: sums over the whole run, without times."""

    whole_run = True

    def __init__(self, profile):
        self._profile = profile

    def stop(self):
        """Write the sums; whether there were any."""
        return self._profile.write() is not None


def _mend(path):
    """Make a trace whole: from the second one of a process on, MXNet leaves out how the file begins."""
    with open(path, "rb") as source:
        text = source.read().lstrip()
    if not text.startswith(b"{"):
        text = b'{"traceEvents": [' + text.lstrip(b",")
    text = re.sub(rb"\[\s*,", b"[", text, count=1)
    with open(path, "wb") as target:
        target.write(text)


_ENGINES = {
    "tensorflow": TensorFlow, "tensorflow1": TensorFlow1, "jax": Jax, "torch": Torch, "mxnet": MXNet, "theano": Theano,
    "cntk": CNTK, "chainer": Chainer, "openvino": OpenVINO,
}  # fmt: skip
