"""Starts the probes in the traced process and runs the user's script as Python would have."""

import atexit
import builtins
import importlib.machinery
import io
import json
import os
import runpy
import sys
import threading
import types
import weakref

from dlprof_probes import wire
from dlprof_probes.inproc import (
    engines,
    gc_probe,
    imports,
    lines,
    loops,
    marks,
    overrides,
    profile_decorator,
    recorder,
    tracebacks,
)
from dlprof_probes.inproc.clock import anchor, now
from dlprof_probes.inproc.kernels import windows
from dlprof_probes.inproc.patching import Patches
from dlprof_probes.inproc.probe import Probe

CELL = "<ipython-input-"
"""What IPython calls the code of a cell begins with this; ipykernel gives it the name of a file that is not there."""
_BUDGET = 0.01
"""Share of the time that all probes may cost, where the configuration does not say it."""
_LINES_OF_BUDGET = 0.5
_IMPORT_MACHINERY = "<frozen importlib._bootstrap>"


def main(config_path, boot_ns):
    """Run the script named in the configuration.

    Args:
        config_path: JSON file written by the conductor.
        boot_ns: When this process first ran a line of dlprof.
    """
    with io.open(config_path, encoding="utf-8") as source:
        config = json.load(source)
    if config.get("pid"):
        with open(config["pid"], "w") as target:
            target.write(str(os.getpid()))
    program = _Program(config)
    program.prepare_interpreter()
    session = None
    try:
        session = Session(config, program.path, boot_ns)
    except Exception as error:
        _leave_status(config, "the in-process probe did not start: %s: %s" % (type(error).__name__, error))
    tracebacks.install(Patches())
    if session is not None:
        session.start_script()
    try:
        exec(program.code(session), program.namespace)  # noqa: S102
    except BaseException:
        tracebacks.hook_uncaught()
        raise
    finally:
        if session is not None:
            session.end_script()


class _Program(object):
    """The user's script or module, and the interpreter state that Python would have given it."""

    def __init__(self, config):
        self.argv = config["argv"]
        self.module = config.get("module")
        self.path = config["script"]
        self.namespace = None

    def prepare_interpreter(self):
        """Set `sys.argv`, `sys.path[0]` and `__main__`."""
        sys.argv = list(self.argv)
        if hasattr(sys, "orig_argv"):
            sys.orig_argv = [sys.orig_argv[0], *(["-m", self.module] if self.module else []), *self.argv]
        sys.path[0] = os.getcwd() if self.module else os.path.dirname(os.path.realpath(self.path))
        main_module = types.ModuleType("__main__")
        main_module.__builtins__ = builtins
        sys.modules["__main__"] = main_module
        self.namespace = main_module.__dict__

    def code(self, session):
        """Compile the program; a syntax error surfaces as it does without dlprof."""
        if self.module:
            return self._module_code(session)
        file = os.path.abspath(self.path) if sys.version_info >= (3, 9) else self.argv[0]
        self.namespace.update(
            __file__=file,
            __loader__=importlib.machinery.SourceFileLoader("__main__", file),
            __spec__=None,
            __package__=None,
            __cached__=None,
        )
        with io.open(file, "rb") as source:
            text = source.read()
        code = compile(text, file, "exec", dont_inherit=True)
        return session.profiled(code, text) if session is not None else code

    def _module_code(self, session):
        # The functions that `python -m` itself uses, so that packages and errors come out alike.
        _, spec, code = runpy._get_module_details(self.module)
        sys.argv[0] = spec.origin
        self.namespace.update(
            __file__=spec.origin, __loader__=spec.loader, __spec__=spec, __package__=spec.parent, __cached__=spec.cached
        )
        return session.profiled(code, b"profile") if session is not None else code


class Session(object):
    """The probes of this process, from start to end.

    Args:
        config: What the conductor has written.
        script: Path of the script.
        boot_ns: When this process first ran a line of dlprof.
    """

    def __init__(self, config, script, boot_ns):
        raw = config["raw"]
        self._budget = config.get("budget") or _BUDGET
        self._is_user_file = _UserFiles()
        stream = os.path.join(raw, "inproc.wire")
        live = bool(config.get("live"))
        self.recorder = recorder.Recorder(stream, config["status"], self._is_user_file, live)
        self.recorder.meta(_process_facts(boot_ns))
        boot = self.recorder.begin(wire.SpanKind.DLPROF, "start", time_ns=boot_ns)
        self._finished = False
        self._script = None
        wrappers = load_wrappers()
        self.lines = self._make_lines(config.get("lines"), script, os.path.join(raw, "lines.json"))
        self._windows = _make_windows(config.get("kernels"), self.recorder, os.path.join(raw, "kernels"))
        loop_set = loops.Loops(self.recorder, self._windows)
        self.probe = Probe(self.recorder, loop_set, self.lines, wrappers, self._is_user_file, self._windows)
        classes = engines.plugged_in(config.get("engine_plugins") or {}, self.recorder)
        if classes:
            # Before our own: what is built on another engine loads that one, too.
            self.probe.engines = engines.Engines(self.probe, classes + list(engines.CLASSES))
        settings = config.get("overrides")
        self.imports = imports.Imports(self.probe, overrides.Overrides(self.probe, settings) if settings else None)
        self.imports.install()
        marks.Marks(self.probe, config.get("engine")).install()
        self._gc = gc_probe.GcProbe(self.recorder)
        self._gc.install()
        self.probe.patches.on_undo(self._gc.remove)
        self._watch_exits()
        self.recorder.end(boot)

    def _make_lines(self, config, script, path):
        if not config:
            return lines.NoLines()
        try:
            # The budget is that of all probes; lines may take half of it.
            config = dict({"share": _LINES_OF_BUDGET * self._budget}, **config)
            return lines.make(config, os.path.abspath(script), path)
        except Exception as error:
            self.recorder.probe("lines", "unavailable", "line_profiler cannot be loaded: %s" % error)
            return lines.NoLines()

    def _watch_exits(self):
        atexit.register(self.finish)
        original = os._exit
        self.probe.patches.on_undo(lambda: atexit.unregister(self.finish))
        self.probe.patches.on_undo(lambda: setattr(os, "_exit", original))

        def _exit(status):
            try:
                self.finish()
            finally:
                original(status)

        os._exit = _exit
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_if_alive(weakref.ref(self), Session._forked))

    def _forked(self):
        """A forked child is not recorded: its stream is its parent's."""
        self._finished = True
        self.recorder.failed = "forked"
        self.lines.forked()

    def profiled(self, code, text):
        """`code` with its lines counted, where line profiling is on."""
        if not self.lines.on:
            return code
        start = now()
        try:
            code = self.lines.register(code)
            if b"profile" in text:
                profile_decorator.install(self.lines, self.probe.wrappers)
            self.recorder.complete(wire.SpanKind.DLPROF, "start line profiling", start, now())
            self.lines.start()
        except Exception as error:
            self.recorder.probe("lines", "failed", "%s: %s" % (type(error).__name__, error))
            self.lines.on = False
        return code

    def start_script(self):
        """The user's code begins."""
        self._script = self.recorder.begin(wire.SpanKind.SCRIPT, "script", nests=False)
        self.recorder.flush()

    def end_script(self):
        """The user's code is over; what follows is teardown."""
        try:
            if self.lines.on:
                self._end_lines()
            self.recorder.end(self._script)
            self._script = None
            self.recorder.flush()
        except Exception as error:
            self.recorder.note("end-failed", "%s: %s" % (type(error).__name__, error))

    def _end_lines(self):
        if self.lines.stopped():
            self.recorder.note(
                "line-profiling-stopped", "the program set a trace function of its own: line times end there"
            )
        self.lines.end()
        start = now()
        self.lines.save()
        self.recorder.complete(wire.SpanKind.DLPROF, "save line times", start, now())

    def _cost_of_lines(self):
        """What lines cost (ns), and how that was got."""
        spending = self.lines.spending()
        if spending is None:
            how = "measured: registering and saving; counting itself is in the lines"
            return self.lines.cost_ns, how + " (all were counted: up to 10 times as long in tight loops of Python)"
        how = "registering and saving measured, counting estimated: in %d windows, %.2g %% of the time" % (
            spending["windows"],
            100 * (spending["duty"] or 0),
        )
        return self.lines.cost_ns + spending["tax_ns"], how

    def finish(self):
        """Write all that is known; called once, at exit or right before `os._exit`."""
        if self._finished or os.getpid() != self.recorder.pid:
            return
        self._finished = True
        start = now()
        try:
            self.probe.loops.finish()
            self._windows.finish()
            if self._script is not None:
                self.recorder.end(self._script, start)
            self._gc.finish()
            if self.lines.on:
                self.lines.save()
                self.recorder.probe("lines", "on", None, *self._cost_of_lines())
            missing = self.probe.missing
            reason = "not in this version: %s" % ", ".join(sorted(set(missing))) if missing else None
            self.recorder.probe("phases", "on", reason)
            self.recorder.meta({"clock_end": anchor()})
            self.recorder.complete(wire.SpanKind.DLPROF, "finish", start, now())
        except Exception as error:
            self.recorder.note("finish-failed", "%s: %s" % (type(error).__name__, error))
        self.recorder.finish()


def _if_alive(reference, method):
    """A function that calls `method` of what `reference` points to, as long as that is there."""

    def call():
        found = reference()
        if found is not None:
            method(found)

    return call


def _make_windows(config, recorder, folder):
    if not config:
        return windows.NoWindows()
    return windows.Windows(recorder, folder, config["mode"], config["steps"], config.get("gpu", True))


class _UserFiles(object):
    """Whether a file is the user's own code: not Python's, not an installed package's, not dlprof's."""

    def __init__(self):
        self._known = {}
        here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self._libraries = (os.path.dirname(os.__file__) + os.sep, here + os.sep)

    def __call__(self, path):
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._look(path)
        return known

    def _look(self, path):
        if not path or path.startswith("<"):
            return path.startswith(CELL)
        parts = path.split(os.sep)
        if "site-packages" in parts or "dist-packages" in parts:
            return False
        return not os.path.abspath(path).startswith(self._libraries)


def load_wrappers():
    """The module `wrappers`, compiled under the name of the import machinery (its first lines say why)."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrappers.py")
    with io.open(path, encoding="utf-8") as source:
        code = compile(source.read(), _IMPORT_MACHINERY, "exec", dont_inherit=True)
    module = types.ModuleType("dlprof_probes.inproc.wrappers")
    exec(code, module.__dict__)  # noqa: S102
    return module


def _process_facts(boot_ns):
    return {
        "pid": os.getpid(),
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "main_thread": threading.get_ident(),
        "boot_ns": boot_ns,
        "clock_start": anchor(),
    }


def _leave_status(config, reason):
    try:
        with open(config["status"], "r+b") as status:
            status.write(wire.json_payload({"failed": reason})[:1000])
    except (OSError, IOError):
        pass
