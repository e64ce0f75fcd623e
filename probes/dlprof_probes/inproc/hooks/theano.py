"""Theano: versions, compilation of functions, and the profile that its compiled functions keep."""

import json
import os
import sys


def ready(modules):
    """Whether Theano is loaded to its end."""
    theano = modules["theano"]
    return hasattr(theano, "function") and hasattr(theano, "scan") and hasattr(theano, "__version__")


def attach(probe, module):
    """Note the version, hook compilation, and have functions profiled where every kernel is asked for."""
    probe.recorder.meta({"engine": "theano", "engine_version": str(module.__version__)})
    probe.graph_compile(module, "function", lambda _args: "theano.function")
    if probe.windows.folder is not None and probe.windows.everything:
        profile = Profile(probe.windows.folder)
        change, made = probe.guard(profile.asked, {}), probe.guard(profile.made)
        probe.replace(module, "function", lambda f: probe.wrappers.with_keywords(f, change, made), again=True)
        probe.windows.use("theano", profile)


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
            os.makedirs(self._folder)
        path = os.path.join(self._folder, "theano-profile.json")
        with open(path, "w") as target:
            json.dump({"functions": found}, target)
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
            "name": getattr(function, "name", None) or str(profile.message), "calls": profile.fct_callcount,
            "call_time_s": profile.fct_call_time, "operators": operators,
        }  # fmt: skip
