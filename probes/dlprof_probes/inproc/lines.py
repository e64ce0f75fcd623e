"""Line profiling of the user's own code with line_profiler, at almost no cost to the rest.

Before Python 3.12 line_profiler's trace function slows every Python line of its thread down, also
those of Keras. So it runs only while the user's own code does: the hooks around Keras and around
imports pause it and restore it, which does not disturb the time of the line that made the call. From
3.12 on, only the code that is profiled asks for events, so there is nothing to pause.
"""

import fnmatch
import importlib
import importlib.util
import inspect
import os
import sys
import types
from os import getpid
from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc import own_files
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.gc_probe import held_back

_FUNCTION = inspect.CO_NEWLOCALS


class NoLines(object):
    """Stands in where line profiling is off: every method does nothing."""

    on = False

    def pause(self):
        """Nothing to pause."""
        return False

    def restore(self, was_on):
        """Nothing to restore."""

    def resume(self):
        """Nothing to resume."""
        return False

    def register(self, code):
        """Leave `code` as it is."""
        return code

    def selects(self, path, module=""):
        """No file is selected."""
        return False

    def save(self, at_most_every_s=0):
        """Nothing to save."""

    def stop(self):
        """Nothing to stop."""


class Lines(object):
    """Counts hits and time of each line of the selected files.

    Args:
        profiler: A `line_profiler.LineProfiler`.
        selection: `Selection` of files.
        path: JSON file that takes the counts.
    """

    on = True

    def __init__(self, profiler, selection, path):
        self.profiler = profiler
        self.selects = selection
        self.cost_ns = 0
        self._path = path
        self._manager = None
        self._thread = get_ident()
        self._pid = getpid()
        self._codes = []
        self._everywhere = set()
        self._saved = 0

    def start(self):
        """Begin to count on this thread."""
        self.profiler.enable()
        if _uses_monitoring(self.profiler):
            _listen_locally(self.profiler, self._codes)
        else:
            trace = sys.gettrace()
            # A manager (line_profiler >= 5), or the profiler itself before that: both can be put back after a pause.
            self._manager = trace if callable(trace) else None

    def pause(self):
        """Stop counting on this thread; returns whether it was counting."""
        if self._manager is not None and sys.gettrace() is self._manager:
            sys.settrace(None)
            return True
        return False

    def restore(self, was_on):
        """Count again if `pause` found it counting. A trace function of the user's own is left alone."""
        if was_on and sys.gettrace() is None:
            self._trace()

    def resume(self):
        """Count on the main thread from here on, inside Keras; returns whether that changed anything."""
        if self._manager is None or sys.gettrace() is not None or get_ident() != self._thread:
            return False
        self._trace()
        return True

    def _trace(self):
        manager = self._manager
        if manager is self.profiler:
            manager.enable()  # puts its C trace function in place, and nothing else
            return
        sys.settrace(manager)
        # The manager's first call puts its C trace function in its own place.
        manager(sys._getframe(), "call", None)

    def register(self, code):
        """Have the lines of `code` and of the functions in it counted; returns the code to run instead."""
        start = now()
        try:
            return self._registered(code)
        finally:
            self.cost_ns += now() - start

    def _registered(self, code):
        consts = tuple(self._registered(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
        if any(new is not old for new, old in zip(consts, code.co_consts)):
            code = _with_consts(code, consts)
        if not _is_profiled(code):
            return code
        # line_profiler takes functions, and tells equal bytecode apart by padding it: a function is
        # made around the code for its sake, and the padded code is what must run.
        cells = tuple(_cell() for _ in code.co_freevars)
        function = types.FunctionType(code, {}, code.co_name, None, cells)
        self.profiler.add_function(function)
        if self._manager is None and _uses_monitoring(self.profiler):
            self._codes.append(function.__code__)
            _listen_locally(self.profiler, [function.__code__])
        return function.__code__

    def counts_everywhere(self, code):
        """Remember that the function of `code` is under `@profile`: it is counted on any thread, and inside Keras."""
        self._everywhere.add((code.co_filename, code.co_firstlineno))

    def enter_function(self):
        """A function under `@profile` begins, on any thread and anywhere; returns what `leave_function` needs."""
        if get_ident() == self._thread:
            return "resumed" if self.resume() else ""
        if sys.gettrace() is None and not _uses_monitoring(self.profiler):
            self.profiler.enable_by_count()
            return "enabled"
        return ""

    def leave_function(self, token):
        """That function is over."""
        if token == "resumed":  # noqa: S105
            self.pause()
        elif token == "enabled":  # noqa: S105
            self.profiler.disable_by_count()

    def save(self, at_most_every_s=0):
        """Write the counts so far, replacing those written before."""
        start = now()
        if self._saved and start - self._saved < at_most_every_s * 1e9:
            return
        if getpid() != self._pid:
            return  # a forked child must not replace the counts of its parent
        self._saved = start
        with held_back():
            self._write()
        self.cost_ns += now() - start

    def _write(self):
        functions = [
            {
                "file": file,
                "first_line": first,
                "function": name,
                "lines": lines,
                "everywhere": (file, first) in self._everywhere,
            }
            for (file, first, name), lines in self.profiler.get_stats().timings.items()
        ]
        content = {
            "format": "dlprof.lines/1",
            "unit_ns": _unit_ns(self.profiler),
            # On every thread and inside Keras; else where `resume` and `restore` say.
            "on_threads": self._manager is None and _uses_monitoring(self.profiler),
            "functions": functions,
        }
        own_files.save_whole(self._path, wire.json_payload(content))

    def stop(self):
        """Count no more, in a process that goes on: no trace function is left behind, and no tool."""
        self.pause()
        self.profiler.disable()

    def stopped(self):
        """Whether somebody else took the trace function away."""
        return self._manager is not None and sys.gettrace() is not self._manager


class Selection(object):
    """Which files are profiled by line: the script, modules beside it, and what the user named.

    Args:
        script: Absolute path of the script.
        patterns: Module names (`pkg.mod`, which take in what is below them) or file patterns.
    """

    def __init__(self, script, patterns):
        self._script = script
        self._beside = os.path.dirname(script) + os.sep
        self._patterns = patterns
        self._excluded = tuple({os.path.realpath(p) + os.sep for p in _library_folders()})

    def __call__(self, path, module=""):
        """Whether the file at `path`, imported as `module`, is selected."""
        if not path or path.startswith("<"):
            return False
        path = os.path.abspath(path)
        if path == self._script or any(self._named(path, module, pattern) for pattern in self._patterns):
            return True
        return path.startswith(self._beside) and not self._is_library(path)

    def _is_library(self, path):
        below = path[len(self._beside) :].split(os.sep)
        return "site-packages" in below or "dist-packages" in below or os.path.realpath(path).startswith(self._excluded)

    @staticmethod
    def _named(path, module, pattern):
        if os.sep in pattern or pattern.endswith(".py"):
            pattern = os.path.abspath(pattern)
            return path == pattern or path.startswith(pattern + os.sep) or fnmatch.fnmatch(path, pattern)
        return module == pattern or module.startswith(pattern + ".")


def _library_folders():
    folders = [os.path.dirname(os.__file__)]
    folders.extend(p for p in sys.path if os.path.basename(p) in ("site-packages", "dist-packages"))
    return folders


def make(config, script, path):
    """Start line profiling as `config` says.

    Args:
        config: {"patterns": [...], "package": folder that holds line_profiler, or None}.
        script: Absolute path of the script.
        path: JSON file for the counts.

    Returns:
        Lines: Ready to `start`.

    Raises:
        ImportError: When line_profiler cannot be had on this interpreter.
    """
    profiler = _line_profiler(config.get("package")).LineProfiler()
    return Lines(profiler, Selection(script, config.get("patterns", [])), path)


def _line_profiler(folder):
    """The module line_profiler, from `folder` if that is given; what else comes from there is forgotten again."""
    if not folder:
        return importlib.import_module("line_profiler")
    # At the end of the path where that will do: the user's own packages come first then.
    own = importlib.util.find_spec("line_profiler") is not None
    sys.path.insert(0 if own else len(sys.path), folder)
    try:
        return importlib.import_module("line_profiler")
    finally:
        sys.path.remove(folder)
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None) or ""
            if file.startswith(folder + os.sep) and name.split(".")[0] != "line_profiler":
                del sys.modules[name]  # the program must not find what it does not have


def _is_profiled(code):
    return code.co_name == "<module>" or (bool(code.co_flags & _FUNCTION) and not code.co_name.startswith("<"))


def _cell():
    def outer(value=None):
        return lambda: value

    return outer().__closure__[0]


def _with_consts(code, consts):
    if hasattr(code, "replace"):
        return code.replace(co_consts=consts)
    return types.CodeType(
        code.co_argcount,
        code.co_kwonlyargcount,
        code.co_nlocals,
        code.co_stacksize,
        code.co_flags,
        code.co_code,
        consts,
        code.co_names,
        code.co_varnames,
        code.co_filename,
        code.co_name,
        code.co_firstlineno,
        code.co_lnotab,
        code.co_freevars,
        code.co_cellvars,
    )


def _unit_ns(profiler):
    return profiler.get_stats().unit * 1e9


def _uses_monitoring(profiler):
    return hasattr(sys, "monitoring") and sys.gettrace() is None and hasattr(profiler, "tool_id")


def _listen_locally(profiler, codes):
    """Ask for events of `codes` only, instead of those of every line of the program."""
    monitoring = sys.monitoring
    tool = profiler.tool_id
    if monitoring.get_tool(tool) is None:
        return
    events = monitoring.events
    monitoring.set_events(tool, events.NO_EVENTS)
    for code in codes:
        monitoring.set_local_events(tool, code, events.LINE | events.PY_RETURN | events.PY_YIELD)
