"""`@profile` as users of kernprof know it: a builtin, and `from line_profiler import profile`."""

import builtins
import inspect
import sys

from dlprof_probes.inproc.patching import dress


class ProfileDecorator(object):
    """What the name `profile` stands for in the traced program; other uses go to the LineProfiler."""

    def __init__(self, lines, wrappers):
        self._lines = lines
        self._wrappers = wrappers

    def __call__(self, function):
        """Have the lines of `function` counted wherever it runs."""
        code = getattr(function, "__code__", None)
        if code is None:
            return self._lines.profiler(function)
        if not self._lines.selects(code.co_filename):
            self._lines.profiler.add_function(function)
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            return function
        lines = self._lines
        lines.counts_everywhere(code)
        return dress(self._wrappers.profiled(function, lines.enter_function, lines.leave_function), function)

    def __getattr__(self, name):
        return getattr(self._lines.profiler, name)


def install(lines, wrappers):
    """Make `profile` known to the traced program."""
    decorator = ProfileDecorator(lines, wrappers)
    builtins.profile = decorator
    explicit = getattr(sys.modules.get("line_profiler"), "profile", None)
    overwrite = getattr(explicit, "_kernprof_overwrite", None)
    if overwrite is not None:
        overwrite(decorator)
