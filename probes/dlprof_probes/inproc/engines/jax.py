"""JAX: compilation as its own monitoring tells it, and its profiler."""

import os
import re
import sys
from importlib import import_module
from os import makedirs, uname
from sys import _getframe

from dlprof_probes import wire
from dlprof_probes.inproc import own_files
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.engines import jax_loops
from dlprof_probes.inproc.engines.base import Attachment, Engine, weights_told
from dlprof_probes.inproc.engines.graph_constants import GraphConstants
from dlprof_probes.inproc.kernels.tracer import Tracer, quiet, xplanes

_MOST_ARRAYS = 100000
_MOST_PROGRAMS = 500
_MOST_OPERATORS = 5000
"""Compiled outside of training steps: each takes ten milliseconds and more, telling of it less than a tenth of one."""
_ARGUMENTS_TOLD = 16
_LEAVES_TOLD = 2
_NAME_LENGTH = 80
_ROOT = re.compile(r"[^\[.]*")
_TEMPORARY = "temporaries of a compiled step (activations, gradients, workspace): XLA's plan"
_COMPILING = "/jax/core/compile/backend_compile_duration"
_STAGES = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
}
"""What JAX does before it compiles a function, one after the other."""


_READS = (
    ("block_until_ready", "block_until_ready()"), ("item", "item()"), ("tolist", "tolist()"),
    ("__array__", "np.asarray()"), ("__float__", "float()"), ("__int__", "int()"), ("__bool__", "bool()"),
    ("__format__", "format()"),
)  # fmt: skip
_READERS = (("block_until_ready", "jax.block_until_ready()"), ("device_get", "jax.device_get()"))
"""What brings values of an array to the host, or waits for them. NumPy reads those on a CPU without any of it."""


class JaxTracer(Tracer):
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
            self._session = _session(options)
            if self._session is None:
                self._jax.profiler.start_trace(folder, profiler_options=options)

    def stop(self):
        """End, and name the files."""
        session, self._session = self._session, None
        with quiet():
            if session is None:
                self._jax.profiler.stop_trace()
            else:
                self._write(session.stop())
        return xplanes(self._folder)

    def _write(self, data):
        target = os.path.join(self._folder, "plugins", "profile", "window")
        makedirs(target)
        own_files.save(os.path.join(target, "%s.xplane.pb" % uname().nodename), data)


def _session(options):
    """A session that gives the trace as bytes, or None where this version of JAX has none."""
    try:
        return import_module("jax._src.lib")._profiler.ProfilerSession(options)
    except (ImportError, AttributeError, TypeError):
        return None


def _is_of_jax(function):
    """Whether a function is one of JAX's own, such as each operator."""
    return str(getattr(function, "__module__", "")).split(".")[0] in ("jax", "jaxlib")


def _by_root(signature):
    """Types of a function's arguments, by name; of one that is a tree (`params['w'][0]`) those of its first leaves."""
    found, seen = {}, {}
    for name, kind in signature.items():
        root = _ROOT.match(name).group()
        seen[root] = seen.get(root, 0) + 1
        if seen[root] <= _LEAVES_TOLD and len(seen) <= _ARGUMENTS_TOLD:
            found[name[:_NAME_LENGTH]] = str(kind)[:_NAME_LENGTH]
    return found


def _plain(name):
    """The name of a function, out of that of its program: `jit(f)`, `jit_f`."""
    return str(name or "").replace("jit(", "").replace("jit_", "").rstrip(")")


def _temporary_bytes(devices, names):
    """What a compiled program needs for temporaries, by XLA's plan (bytes): the most of some; None: it is not told.

    Args:
        devices: Those of this process.
        names: Functions whose programs are meant; where none of these is there, all are.
    """
    client, found = getattr(devices[0], "client", None) if devices else None, []
    for one in list(getattr(client, "live_executables", list)())[:_MOST_PROGRAMS]:
        try:
            size = int(one.get_compiled_memory_stats().temp_size_in_bytes)
        except (AttributeError, RuntimeError, TypeError):  # of other backends, and versions
            continue
        found.append((_program_name(one) in names, size))
    return max(found)[1] if found else None


def _program_name(program):
    """Name of the function that a program was compiled of; empty: it is not told."""
    try:
        return _plain(program.hlo_modules()[0].name)
    except (AttributeError, IndexError, RuntimeError, NotImplementedError):
        return ""


class Jax(Engine):
    """JAX."""

    name = module = "jax"
    tracer_class = JaxTracer
    switches = (
        ("jax_debug_nans", lambda jax: jax.config.jax_debug_nans),
        ("jax_debug_infs", lambda jax: jax.config.jax_debug_infs),
        ("jax_disable_jit", lambda jax: jax.config.jax_disable_jit),
        ("jax_check_tracer_leaks", lambda jax: jax.config.jax_check_tracer_leaks),
    )

    def __init__(self, probe):
        super(Jax, self).__init__(probe)
        self._own_functions = set()  # names of functions that are not JAX's
        self._trained = set()  # names of functions that were compiled in a training of Keras
        self._traced = {}  # functions that were traced and are not yet compiled: name to what is told of them
        self._operators = 0  # of JAX's own that were compiled outside of training steps
        self.by_hand = None

    def attachments(self):
        """JAX, and optax."""
        waiting = super(Jax, self).attachments()
        is_ready = lambda modules: hasattr(modules["optax"], "__version__") and "jax" in modules  # noqa: E731
        waiting.append(Attachment("optax", is_ready, lambda module: jax_loops.watch_optax(self, module)))
        return waiting

    def is_ready(self, modules):
        """Whether JAX is loaded to its end."""
        return hasattr(modules["jax"], "monitoring") and hasattr(modules["jax"], "profiler")

    def attach(self, module):
        """Note the version, and listen to compilations."""
        self.note_version(module)
        compiled, prepared = self.probe.guard(self._compiled), self.probe.guard(self._prepared)

        def listener(event, duration, **facts):
            if event == _COMPILING:
                compiled(duration, facts.get("fun_name"))
            elif event in _STAGES:
                prepared(_STAGES[event], duration, facts.get("fun_name"))

        module.monitoring.register_event_duration_secs_listener(listener)
        forget = getattr(module.monitoring, "unregister_event_duration_listener", None)
        if forget is not None:
            self.probe.patches.on_undo(lambda: forget(listener))
        pjit = sys.modules.get("jax._src.pjit")
        if hasattr(pjit, "_trace_for_jit"):
            self.probe.around(pjit, "_trace_for_jit", self._remember, lambda _token, _args: None)
            self._watch_constants(pjit)
        jax_loops.watch(self, module)
        self._watch(getattr(sys.modules.get("jax._src.array"), "ArrayImpl", None))
        array = getattr(sys.modules.get("jax._src.array"), "ArrayImpl", None)
        if array is not None:
            self.probe.syncs.watching(self.module)
            self.probe.syncs.watch(array, _READS)
        self.probe.syncs.watch(module, _READERS)
        self._watch_callbacks(sys.modules.get("jax._src.callback"))
        state = getattr(sys.modules.get("jax._src.distributed"), "State", None)
        if state is not None:
            began = self.probe.guard(lambda _result, args: self._tell_rank(args[0]))
            self.probe.replace(state, "initialize", lambda f: self.probe.wrappers.after(f, began))

    def _tell_rank(self, state):
        """`jax.distributed` was initialised: it knows which of how many processes this is."""
        told = {"rank": state.process_id, "world": state.num_processes, "by": "jax.distributed"}
        self.probe.recorder.meta({"rank": told})
        self.probe.recorder.flush()

    def _watch_callbacks(self, callback):
        """Tell when Python functions run that a compiled one calls (`pure_callback` and its kin): on threads of XLA."""
        probe, name = self.probe, "emit_python_callback"
        if callback is None:
            return
        wrap = probe.guard(lambda args, kwargs: ((args[0], probe.native_calls.wrap(args[1])) + args[2:], kwargs))
        probe.replace(callback, name, lambda f: probe.wrappers.with_arguments(f, wrap))

    def _watch(self, array):
        """Reading a value of an array waits for what makes it; a step returns before."""
        self.probe.waits.watch()
        value = vars(array).get("_value") if array is not None else None
        if isinstance(value, property):
            waits, own = self.probe.waits, self.probe.own_loops

            def got(start, end):
                waits.over(start, end)
                own.goes_on(True)

            over = self.probe.guard(got)
            array._value = property(self.probe.wrappers.waiting(value.fget, waits, over, now), doc=value.__doc__)
            self.probe.patches.on_undo(lambda: setattr(array, "_value", value))

    def _remember(self, args):
        """A function is traced for `jit`: keep the types of its arguments until its compilation is over."""
        function, debug, types = args[0], args[3], args[4]
        name = getattr(function, "__name__", "?")
        names = getattr(debug, "arg_names", None) or ()
        signature = {}
        for number, kind in enumerate(types):
            told = names[number] if number < len(names) else None
            signature[told or "argument %d" % number] = kind
        if not _is_of_jax(function):
            self._own_functions.add(name)
        told = self.probe.causes.note(function, name, signature)
        if not told["again"]:
            told["arguments"] = _by_root(signature)
        self._traced[name] = told

    def _watch_constants(self, pjit):
        """Look at what a function that was traced has closed over."""
        constants = GraphConstants(self.probe)

        def traced(made, args):
            if not _is_of_jax(args[0]):
                constants.of_jax(args[0], getattr(made, "params", {}).get("jaxpr"))

        hook = self.probe.guard(traced)
        self.probe.replace(pjit, "_trace_for_jit", lambda f: self.probe.wrappers.after(f, hook), again=True)

    def _is_told(self, name):
        """Whether a function is one of the script, or part of a call of Keras; else it is one of its own operators."""
        probe = self.probe
        return bool(probe.current_loop() is not None or probe.recorder.stack() or name in self._own_functions)

    def _prepared(self, stage, duration, name):
        """A function was traced or lowered, which took `duration` seconds."""
        function, end = _plain(name), now()
        is_operator = not self._is_told(function)
        # Tracing an operator takes next to nothing, and stands inside of that of others.
        if is_operator and (stage == "trace" or not self._has_room(function)):
            return
        recorder, begin = self.probe.recorder, self._begun(end, duration)
        kind = wire.SpanKind.GRAPH_STAGE
        span = recorder.complete(kind, "%s %s" % (stage, function), begin, end, _getframe())
        if is_operator:
            self._tell_operator(span, stage, function)
        else:
            recorder.detail(span, {"graph": {"stage": stage, "function": function}})

    def _begun(self, end, duration):
        """When something began that is over now, and took `duration` seconds by the wall clock: in what is around it.

        While that clock is being set it may run faster than ours, by half a percent.
        """
        loop = self.probe.current_loop()
        if loop is None:
            earliest = self.probe.recorder.outermost_began()
        else:
            earliest = loop.begin or loop.previous_end or loop.opened
        return min(end, max(earliest, end - int(duration * 1e9)))

    def _compiled(self, duration, name):
        """A compilation is over that took `duration` seconds."""
        probe, function = self.probe, _plain(name)
        probe.loops.compiles[0] += 1
        probe.loops.compiled_at = end = now()
        is_operator = not self._is_told(function)
        if is_operator and not self._has_room(function):
            return
        text = "compile %s" % name if name else "compile"
        kind = wire.SpanKind.GRAPH_COMPILE
        span = probe.recorder.complete(kind, text, self._begun(end, duration), end, _getframe())
        known = self._traced.pop(function, None)
        if is_operator:
            # Not what was traced: an operator for another shape is no function that was compiled again.
            self._operators += 1
            self._tell_operator(span, "compile", function)
            return
        if any(one == wire.SpanKind.FIT for _, one in probe.recorder.stack()):
            self._trained.add(function)
        facts = {"graph": {"stage": "compile", "function": function}} if function else {}
        if known:
            facts["compiled"] = known
        if facts:
            probe.recorder.detail(span, facts)

    def _has_room(self, function):
        """Whether an operator that is compiled outside of training steps is still told."""
        if self._operators >= _MOST_OPERATORS:
            text = "More than %d of JAX's operators were compiled outside of training steps: the others are not told."
            self.probe.recorder.note_once("operators-left-out", text % _MOST_OPERATORS, "info")
            return False
        return bool(function)

    def _tell_operator(self, span, stage, function):
        """Say of a span that it made one of JAX's own operators, outside of training steps."""
        facts = {"graph": {"stage": stage, "function": function, "operator": True}}
        self.probe.recorder.known_detail(span, (self.name, stage, function), lambda: facts)

    def allocated(self, module):
        """What arrays that are alive hold; on devices that count, such as GPUs, their allocators' peak."""
        live, found = 0, {}
        for array in module.live_arrays()[:_MOST_ARRAYS]:
            live += 0 if array.is_deleted() else int(array.nbytes)
        stats = [one.memory_stats() or {} for one in module.local_devices()]
        peaks = [one["peak_bytes_in_use"] for one in stats if "peak_bytes_in_use" in one]
        found["live_bytes"] = live
        if peaks:
            found["peak_bytes"] = sum(peaks)
        temporary = _temporary_bytes(module.local_devices(), self._trained)
        if temporary is not None:
            found.update(step_bytes=temporary, step_how=_TEMPORARY)
        return found

    def trained_weights(self, optimizer):
        """Type of the arrays that stand for a state that is updated: not all that it has."""
        arrays = optimizer.arrays() if hasattr(optimizer, "arrays") else ()
        told = weights_told((one.size, str(one.dtype)) for one in arrays)
        return told and {"dtype": told["dtype"]}

    def under_keras(self, keras):
        """The step function fetches the batch: what that takes is no part of the call."""
        self.take_windows()
        iterator = getattr(sys.modules.get("keras.src.backend.jax.trainer"), "JAXEpochIterator", None)
        if iterator is not None:
            wrappers, current = self.probe.wrappers, self.probe.loops.current
            self.probe.replace(iterator, "_get_iterator", lambda f: wrappers.giving_batches(f, current, now))

    def is_settable(self, module):
        """Whether its settings are there."""
        return hasattr(module, "config")

    def array_types(self, module):
        return (sys.modules["jax._src.array"].ArrayImpl,)

    def apply(self, module, settings):
        """Switches for debugging."""
        off = [flag for flag in settings.get("flags_off", ()) if flag.startswith("jax_")]
        for flag in off:
            module.config.update(flag, False)
        if off:
            keep = lambda f: lambda self_, name, value: None if name in off else f(self_, name, value)  # noqa: E731
            self.probe.replace(type(module.config), "update", keep, again=True)
