"""The probes of the traced process, from their start to their end."""

import io
import os
import sys
import threading
import types
from os import getpid

from dlprof_probes import wire
from dlprof_probes.inproc import (
    engines,
    gc_probe,
    heap,
    held_objects,
    imports,
    late_ranks,
    lines,
    loops,
    marks,
    overrides,
    own_builtins,
    process_life,
    process_memory,
    profile_decorator,
    recorder,
    tax,
    user_files,
)
from dlprof_probes.inproc.clock import anchor, now
from dlprof_probes.inproc.kernels import windows
from dlprof_probes.inproc.probe import Probe
from dlprof_probes.inproc.thread_ends import others_are_waited_for

_NOT_THINNED = "all lines are counted, whatever that costs: %s"
_WHY_THINNED = "counting each line of a tight loop would take longer than the loop"
_TAX_OF_LINES = "registering and saving: measured; counting: hits times the measured cost of one"
_IMPORT_MACHINERY = "<frozen importlib._bootstrap>"


class Session(object):
    """The probes of this process, from start to end.

    Args:
        config: What the conductor has written.
        script: Path of the script.
        boot_ns: When this process first ran a line of dlprof.
        begun_ns: When the probe began to load, if that was later.
    """

    def __init__(self, config, script, boot_ns, begun_ns=None):
        raw = config["raw"]
        self._is_user_file = user_files.UserFiles()
        stream = os.path.join(raw, "inproc.wire")
        live = bool(config.get("live"))
        self.recorder = recorder.Recorder(stream, config["status"], self._is_user_file, live)
        self.recorder.meta(_process_facts(boot_ns))
        boot = self.recorder.begin(wire.SpanKind.DLPROF, "start", time_ns=begun_ns or boot_ns)
        self._finished = False
        self._script = None
        self._forked_ranks = None
        wrappers = load_wrappers()
        self.lines = self._make_lines(config.get("lines"), script, os.path.join(raw, "lines.json"))
        self.recorder.on_own = self.lines.took
        self._windows = _make_windows(config.get("kernels"), self.recorder, os.path.join(raw, "kernels"))
        loop_set = loops.Loops(self.recorder, self._windows)
        self.probe = Probe(self.recorder, loop_set, self.lines, wrappers, self._is_user_file, self._windows)
        classes = engines.plugged_in(config.get("engine_plugins") or {}, self.recorder)
        if classes:
            # Before our own: what is built on another engine loads that one, too.
            self.probe.engines = engines.Engines(self.probe, classes + list(engines.CLASSES))
        settings = config.get("overrides")
        self.probe.trial = settings or {}
        self.imports = imports.Imports(self.probe, overrides.Overrides(self.probe, settings) if settings else None)
        self.imports.install()
        marks.Marks(self.probe, config.get("engine")).install()
        self.heap = heap.make(config.get("heap"), os.path.join(raw, "heap.memray"), self.recorder)
        self._gc = gc_probe.GcProbe(self.recorder)
        self._gc.install()
        self.probe.patches.on_undo(self._gc.remove)
        self._count_objects()
        process_life.watch(self)
        self.recorder.end(boot)

    def _count_objects(self):
        """Have held objects counted behind writings of the stream."""
        counted = held_objects.HeldObjects(self.recorder, self._windows, self.probe.engines.array_types)
        look = self.probe.guard(counted.look)
        self.recorder.on_flush.append(look)

    def _make_lines(self, config, script, path):
        if not config:
            return lines.NoLines()
        try:
            return lines.make(config, os.path.abspath(script), path)
        except Exception as error:
            self.recorder.probe("lines", "unavailable", "line_profiler cannot be loaded: %s" % error)
            return lines.NoLines()

    def follow_forks(self, settings, start_rank):
        """Have forked children traced that make themselves ranks.

        Args:
            settings: The module `follow_settings`.
            start_rank: Begins to trace such a child, as `followed.start_rank` does.
        """
        self._forked_ranks = late_ranks.ForkedRanks(settings, self.probe.end, start_rank)

    def forked(self):
        """A forked child is not recorded: stream, windows and counts are its parent's."""
        self._finished = True
        self.probe.ended = True
        self.recorder.failed = "forked"
        self.recorder.thread_ends.forget()
        try:
            self.recorder.close()
            self.probe.loops.forget()
            self.probe.own_loops.forget()
            self.probe.growing.forget()
            self.probe.loaders.forget()
            self.probe.native_calls.forget()
            self.probe.routine.forget()
            self._windows.forget()
            self._gc.remove()
            self.lines.forked()
            if self._forked_ranks is not None:
                self._forked_ranks.forked()
        except Exception:  # the child goes its way
            pass

    def before_fork(self):
        """The program is about to fork."""
        self.lines.before_fork()

    def after_fork(self):
        """It has forked, and this is still the process that is recorded."""
        self.lines.after_fork()

    def profiled(self, code, text):
        """`code` with its lines counted, where line profiling is on."""
        if not self.lines.on:
            return code
        start = now()
        try:
            if b"profile" in text:
                self.lines.use_package()
            code = self.lines.register(code)
            if b"profile" in text:
                profile_decorator.install(self.lines, self.probe.wrappers)
            self.recorder.complete(wire.SpanKind.DLPROF, "start line profiling", start, now())
            self.lines.start()
        except Exception as error:
            self.recorder.probe("lines", "failed", "%s: %s" % (type(error).__name__, error))
            self.lines.on = False
        return code

    def start_script(self, time_ns=None):
        """The user's code begins, or began at a time that is past."""
        self._script = self.recorder.begin(wire.SpanKind.SCRIPT, "script", time_ns=time_ns, nests=False)
        self.recorder.flush()

    def end_script(self):
        """The user's code is over; what follows is teardown."""
        if self._script is None or self._finished:
            return
        try:
            if not others_are_waited_for():
                self._windows.leave_others()
            self.probe.own_loops.end_script()
            self.probe.growing.finish()
            self.probe.loaders.finish()
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
        if self._save_lines():
            self.recorder.complete(wire.SpanKind.DLPROF, "save line times", start, now())

    def _save_lines(self):
        """Save counts of lines; returns whether that was possible. All else is told whatever became of them."""
        try:
            self.lines.save()
        except Exception as error:
            why = "%s: %s" % (type(error).__name__, error)
            self.recorder.probe("lines", "failed", "their file could not be written: %s" % why)
            return False
        return True

    def _tell_lines(self):
        """Record what lines cost (ns), how that was got, and in how much of the time they were counted."""
        spent = self.lines.spending()
        if spent is None:
            reason = self.lines.not_thinned
            self.recorder.probe("lines", "on", reason and _NOT_THINNED % reason, self.lines.tax_ns(), _TAX_OF_LINES)
            return
        thinned = {"what": "% of the time in which lines are counted", "from": 100, "why": _WHY_THINNED}
        thinned["to"] = round(100 * (spent["duty"] or 0), 2)
        self.recorder.probe("lines", "on", None, self.lines.tax_ns(), _TAX_OF_LINES, thinned)

    def finish(self):
        """Write all that is known; called once, at exit or right before `os._exit`."""
        if self._finished or getpid() != self.recorder.pid:
            return
        self._finished = True
        start = now()
        try:
            self.heap.stop()
            del self.recorder.on_flush[:]
            self._windows.leave_others()
            self.probe.own_loops.finish()
            self.probe.growing.finish()
            self.probe.loaders.finish()
            self.probe.native_calls.finish()
            self.probe.syncs.finish()
            self.probe.routine.finish()
            self.probe.loops.finish()
            self._windows.finish()
            if self._script is not None:
                self.recorder.end(self._script, start)
            self._gc.finish()
            if self.lines.on and self._save_lines():
                self._tell_lines()
            missing = self.probe.missing
            reason = "not in this version: %s" % ", ".join(sorted(set(missing))) if missing else None
            self.recorder.probe("phases", "on", reason)
            self.recorder.meta({"tax": tax.measure(self.probe)})
            self.recorder.meta({"clock_end": anchor()})
            finished = self.recorder.complete(wire.SpanKind.DLPROF, "finish", start, now())
            peak = process_memory.peak_bytes()
            if peak is not None:
                self.recorder.detail(finished, {"peak_rss_bytes": peak})
        except Exception as error:
            self.recorder.note("finish-failed", "%s: %s" % (type(error).__name__, error))
        try:
            self.recorder.finish()
        except Exception as error:  # the program has replaced what writing needs
            self.recorder.fail("the stream could not be ended: %s" % type(error).__name__)


def _make_windows(config, recorder, folder):
    if not config:
        return windows.NoWindows()
    gpu, share = config.get("gpu", True), config.get("share")
    return windows.Windows(recorder, folder, config["mode"], config["steps"], gpu, share)


def load_wrappers():
    """The module `wrappers`, of three files, compiled as code of the import machinery (its first lines say why)."""
    module = types.ModuleType("dlprof_probes.inproc.wrappers")
    module.__builtins__ = own_builtins.NAMES
    for name in ("wrappers.py", "sync_wrappers.py", "batch_wrappers.py"):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
        with io.open(path, encoding="utf-8") as source:
            code = compile(source.read(), _IMPORT_MACHINERY, "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102
    return module


def _process_facts(boot_ns):
    return {
        "pid": os.getpid(),
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "main_thread": threading.main_thread().ident,
        "boot_ns": boot_ns,
        "clock_start": anchor(),
    }
