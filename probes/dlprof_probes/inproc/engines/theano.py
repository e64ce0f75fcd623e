"""Theano: compilation of functions, and the profile that its compiled functions keep."""

import os
import sys
import weakref
from os import makedirs

from dlprof_probes import wire
from dlprof_probes.inproc import own_files
from dlprof_probes.inproc.engines.base import Engine
from dlprof_probes.inproc.kernels.tracer import Tracer

_UNCOMPILED = "theano.config.cxx is empty: no C++ compiler"
_SLOW_MODES = ("FAST_COMPILE", "DebugMode", "NanGuardMode", "fast_compile", "py")


class TheanoTracer(Tracer):
    """Theano's profile: sums over the whole run, without times."""

    whole_run = True

    def __init__(self, profile):
        self._profile = profile

    def stop(self):
        """Write the sums; whether there were any."""
        return self._profile.write() is not None


class Theano(Engine):
    """Theano. It decides at compilation whether a function times its operators: there are no windows."""

    name = module = "theano"
    tracer_class = TheanoTracer
    switches = (
        ("theano mode", lambda theano: _slow_mode(theano.config)),
        (_UNCOMPILED, lambda theano: getattr(theano.config, "cxx", None) == "" and not _slow_mode(theano.config)),
    )
    compiles_when_built = True

    def is_ready(self, modules):
        """Whether Theano is loaded to its end."""
        theano = modules["theano"]
        return hasattr(theano, "function") and hasattr(theano, "scan") and hasattr(theano, "__version__")

    def attach(self, module):
        """Note the version, hook compilation, and have functions profiled where every kernel is asked for."""
        self.note_version(module)
        probe = self.probe
        probe.graph_compile(module, "function", lambda _args: "theano.function")
        self._watch_loops(module)
        if not probe.windows.everything:
            probe.windows.decline("Theano can only time its operators over the whole run: --kernels all")
        elif self.wants_kernels:
            profile = Profile(self.kernel_folder)
            change, made = probe.guard(profile.asked, {}), probe.guard(profile.made)
            probe.replace(module, "function", lambda f: probe.wrappers.with_keywords(f, change, made), again=True)
            probe.windows.use(self.name, lambda: TheanoTracer(profile))

    def under_keras(self, keras):
        """Nothing: what is profiled was decided before Keras came."""

    def alone(self):
        """Nothing, for the same reason."""

    def _watch_loops(self, module):
        """A call of a function that updates shared variables is an update, by that function."""
        function = getattr(sys.modules.get("theano.compile.function_module"), "Function", None)
        if function is None:
            return
        own, train = self.probe.own_loops, weakref.WeakKeyDictionary()

        def is_training(args):
            known = train.get(args[0])
            if known is None:
                known = train[args[0]] = _updates_weights(args[0])
            return known

        own.sites.skip(os.path.dirname(module.__file__) + os.sep)
        own.updates(self, function, "__call__", is_training)

    def threads(self, module):
        """OpenMP's number, where Theano may use that."""
        return os.environ["OMP_NUM_THREADS"] if module.config.openmp else 1


class Profile(object):
    """The functions that were compiled with Theano's own profiler, and what it says of them at the end.

    Theano decides at compilation whether it times operators: there are no windows, only the whole run.
    """

    def __init__(self, folder):
        self._folder = folder
        self._functions = []

    def asked(self, keywords):
        """More keywords for a call of `theano.function`; helpers without a name are left alone."""
        return {"profile": True} if keywords.get("name") and keywords.get("profile") is None else {}

    def made(self, function, _args):
        """A function was compiled."""
        if hasattr(getattr(function, "profile", None), "apply_time"):
            self._functions.append(function)

    def write(self):
        """Write what the functions did; the path of the file, or None where there were none."""
        found = [self._facts(function.profile, function) for function in self._functions]
        printed = getattr(sys.modules.get("theano.compile.profiling"), "_atexit_print_list", None)
        if printed:
            del printed[:]  # the user did not ask for Theano's own tables at exit
        if not found:
            return None
        if not os.path.isdir(self._folder):
            makedirs(self._folder)
        path = os.path.join(self._folder, "theano-profile.json")
        own_files.save(path, wire.json_payload({"functions": found}))
        return path

    @staticmethod
    def _facts(profile, function):
        operators = {}
        for key, seconds in profile.apply_time.items():
            node = key[1] if isinstance(key, tuple) else key
            row = operators.setdefault(str(node.op), [0, 0.0])
            row[0] += profile.apply_callcount.get(key, 0)
            row[1] += seconds
        return {
            "name": getattr(function, "name", None) or str(profile.message),
            "calls": profile.fct_callcount,
            "call_time_s": profile.fct_call_time,
            "operators": operators,
        }


def _slow_mode(config):
    """The mode of Theano where it is one for debugging."""
    told = [str(config.mode), str(config.optimizer), str(config.linker)]
    return next((name for name in told if name in _SLOW_MODES), None)


def _updates_weights(function):
    """Whether a function changes shared variables of floats: generators of random numbers are none."""
    inputs = getattr(getattr(function, "maker", None), "inputs", ())
    changed = (one.variable.type for one in inputs if getattr(one, "update", None) is not None)
    return any(str(getattr(kind, "dtype", "")).startswith("float") for kind in changed)
