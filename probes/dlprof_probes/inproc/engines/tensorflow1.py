"""TensorFlow 1: sessions make callables of graphs, which compiles them, and tell the operators of a run."""

import os
import sys
import weakref

from dlprof_probes.inproc import own_files
from dlprof_probes.inproc.engines import tensorflow_sessions
from dlprof_probes.inproc.engines.base import weights_told
from dlprof_probes.inproc.engines.tensorflow import TensorFlow, watch_callbacks
from dlprof_probes.inproc.kernels.tracer import Tracer, quiet

_SESSION = "tensorflow.python.client.session"
_SCRIPT_OPS, _SCRIPT_OPS_CORE = "tensorflow.python.ops.script_ops", "tensorflow_core.python.ops.script_ops"
SOFTWARE_TRACE, FULL_TRACE = 1, 3
"""Trace levels of RunOptions. The first leaves GPUs out, and the profiler that logs each of its sessions."""


class TensorFlow1Tracer(Tracer):
    """Asks the sessions for the RunMetadata of what runs in a window.

    Args:
        sessions: `Sessions`.
    """

    def __init__(self, sessions):
        self._sessions = sessions
        self._folder = None

    def start(self, folder):
        """Begin to collect."""
        self._folder = folder
        level = FULL_TRACE if self.gpu and self._has_gpu() else SOFTWARE_TRACE
        with quiet():
            self._sessions.collect(level)

    def stop(self):
        """End, write, and name the file. Messages put one behind the other are one message, by the format."""
        path = os.path.join(self._folder, "steps.runmeta.pb")
        messages = self._sessions.collected()
        if not messages:
            raise RuntimeError("no session ran in the window")
        own_files.save(path, b"".join(messages))
        return [path]

    def _has_gpu(self):
        module = sys.modules.get("tensorflow.python.client.device_lib")
        return any(device.device_type == "GPU" for device in module.list_local_devices()) if module else False


class TensorFlow1(TensorFlow):
    """The first version of the same module; its settings are the same."""

    name = "tensorflow1"
    tracer_class = TensorFlow1Tracer
    is_session_based = True

    def __init__(self, probe):
        super(TensorFlow1, self).__init__(probe)
        self._sessions = None

    def speaks_of(self, module):
        """Version 1."""
        return not super(TensorFlow1, self).speaks_of(module)

    def attach(self, module):
        """Hook making callables, and running sessions."""
        self.note_version(module)
        probe = self.probe
        watch_callbacks(probe, sys.modules.get(_SCRIPT_OPS) or sys.modules.get(_SCRIPT_OPS_CORE))
        base = getattr(sys.modules.get(_SESSION), "BaseSession", None)
        if base is None or "_make_callable_from_options" not in vars(base):
            probe.missing.append("tf.Session")
            return
        probe.graph_compile(base, "_make_callable_from_options", _label, signature=_signature)
        new = _Signatures().are_new
        probe.graph_compile(base, "run", lambda _args: "first Session.run of these", in_loops=True, when=new)
        if self.wants_kernels:
            self._sessions = Sessions(base)
            make = base._make_callable_from_options
            probe.replace(base, "_make_callable_from_options", self._sessions.making, again=True)
            self._sessions.make = getattr(make, "__wrapped__", make)
            probe.replace(base, "run", self._sessions.running, again=True)
        tensorflow_sessions.watch(self)

    def make_tracer(self):
        """The tracer of the sessions; None where none were found."""
        return TensorFlow1Tracer(self._sessions) if self._sessions is not None else None

    def trained_weights(self, optimizer):
        """Type of what operations of a graph change; how large that is the graph may not know."""
        told = weights_told((1, one) for one in getattr(optimizer, "types", ()))
        return told and {"dtype": told["dtype"]}

    def under_keras(self, keras):
        """Every Keras of its time runs in sessions."""
        self.take_windows()


class _Signatures(object):
    """What sessions were asked for: the first run of other results, or with other inputs, prunes and places a graph."""

    def __init__(self):
        self._seen = weakref.WeakKeyDictionary()

    def are_new(self, args):
        """Whether this is the first run of its kind; `args` are those of `run`, as far as they have no names."""
        fetches, feeds = (*args[1:3], None)[:2]
        flat = fetches if isinstance(fetches, (list, tuple)) else (fetches,)
        key = tuple(id(one) for one in flat), frozenset(id(one) for one in feeds or ())
        seen = self._seen.setdefault(args[0], set())
        if key in seen:
            return False
        seen.add(key)
        return True


def _label(args):
    targets = list(getattr(args[1], "fetch", ())) if len(args) > 1 else []
    return "Session callable of %s" % targets[0] if targets else "Session callable"


def _signature(args):
    """What a callable gives, and what is fed to it."""
    options = args[1]
    feeds = dict((name, "fed") for name in options.feed)
    feeds.update((one.to_tensor, "connected to %s" % one.from_tensor) for one in options.tensor_connection)
    return tuple(options.fetch) + tuple(options.target), (list(options.fetch) or ["?"])[0], feeds


class Sessions(object):
    """What runs in sessions; while it collects, everything that runs leaves its RunMetadata.

    Args:
        base: The class BaseSession.

    Attributes:
        make: The original method that makes a callable.
    """

    def __init__(self, base):
        self._core = sys.modules["tensorflow"].compat.v1
        self._known = weakref.WeakSet()
        self._level = None
        self._messages = []
        self.make = base._make_callable_from_options

    def collect(self, level):
        """Begin to collect at this trace level. Twins of the known callables are made now, not in the window."""
        self._level, self._messages = level, []
        for callable_ in list(self._known):
            callable_.prepare(level)

    def collected(self):
        """End, and give what was collected: serialised RunMetadata, in order."""
        messages, self._level, self._messages = self._messages, None, []
        for callable_ in list(self._known):
            callable_.twin = None
        return messages

    def making(self, original):
        """Stands for `_make_callable_from_options`."""

        def make_callable(session, options):
            made = _Callable(self, session, options, original(session, options))
            self._known.add(made)
            return made

        return make_callable

    def running(self, original):
        """Stands for `run`."""

        def run(session, fetches, feed_dict=None, options=None, run_metadata=None):
            if self._level is None or options is not None or run_metadata is not None:
                return original(session, fetches, feed_dict, options, run_metadata)
            metadata = self._core.RunMetadata()
            options = self._core.RunOptions(trace_level=self._level)
            result = original(session, fetches, feed_dict, options, metadata)
            self._messages.append(metadata.SerializeToString())
            return result

        return run

    def traced(self, callable_, args):
        """Run a callable's twin, and keep what it tells."""
        metadata = self._core.RunMetadata()
        result = callable_.twin(*args, run_metadata=metadata)
        self._messages.append(metadata.SerializeToString())
        return result


class _Callable(object):
    """Stands for a session's callable; all but calling goes to the real one."""

    def __init__(self, sessions, session, options, made):
        self._sessions = sessions
        self._session = weakref.ref(session)
        self._options = options
        self._made = made
        self.twin = None

    def prepare(self, level):
        """Make the twin, which tells what it does."""
        session = self._session()
        if session is not None:
            options = type(self._options)()
            options.CopyFrom(self._options)
            options.run_options.trace_level = level
            self.twin = self._sessions.make(session, options)

    def __call__(self, *args, **kwargs):
        if self.twin is None or kwargs.get("run_metadata") is not None:
            return self._made(*args, **kwargs)
        return self._sessions.traced(self, args)

    def __getattr__(self, name):
        return getattr(self._made, name)
