"""Line profiling of the user's own code with line_profiler, at almost no cost to the rest.

Before Python 3.12 line_profiler's trace function slows every Python line of its thread down, also those of
Keras. So it runs only while the user's own code does: the hooks around Keras and around imports pause it and
restore it, which does not disturb the time of the line that made the call. From 3.12 on, only the code that
is profiled asks for events, so there is nothing to pause.

Where that costs more than was granted, lines are counted in windows (`thinning`); functions that ran then
have scaled hits.
"""

import inspect
import sys
import types
from os import getpid
from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc import duty, line_codes, line_cost, line_module, own_files, own_lines, tally, thinning
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.gc_probe import held_back
from dlprof_probes.inproc.line_selection import Selection

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

    def end(self):
        """Nothing to end."""

    def forked(self):
        """Nothing to leave to the parent."""

    def before_fork(self):
        """Nothing to stop."""

    def after_fork(self):
        """Nothing to start."""

    def spending(self):
        """Nothing was spent."""

    def took(self, ns):
        """No line holds dlprof's own time."""


class Lines(object):
    """Counts hits and time of each line of the selected files.

    Args:
        profiler: A `line_profiler.LineProfiler`.
        selection: `Selection` of files.
        path: JSON file that takes the counts.
        share: Share of the time that counting may cost; None: all is counted, at any cost.
        module: `LineModule` that the profiler is from; None: no other is to be had.
    """

    on = True

    def __init__(self, profiler, selection, path, share=None, module=None):
        self.profiler = profiler
        self._module = module
        self.selects = selection
        self.cost_ns = 0
        self._path = path
        self._manager = None
        self._thread = get_ident()
        self._pid = getpid()
        self._codes = []
        self._kept = []
        self._profiled = set()
        self._bytecodes = {}
        self._everywhere = set()
        self._saved = 0
        self._share = share
        self._paused = self._disabled = False
        self._by_bytecode = {}
        self._cost = None
        self.not_thinned = None
        """Why lines are all counted at any cost, although they should not be; None: they are not."""
        self._thinning = None
        self._is_child = False
        self._keys = {}
        self.tally = tally.Tally(self._counts)
        self._own = own_lines.OwnTime(self.is_profiled, self.key)

    def use_package(self):
        """Have the whole of line_profiler, for a program that may know it; before any code is registered."""
        if self._module is not None:
            self.profiler = self._module.whole()()

    def start(self):
        """Begin to count on this thread."""
        start = now()
        cost = self._cost = None if sys.gettrace() is not None else line_cost.measured(type(self.profiler))
        self._start()
        if cost is not None and self._share is not None:
            monitoring = self._manager is None
            code = cost.count_by(self.profiler)
            if monitoring:
                self._codes.append(code)
            made = thinning.Thinning(self, self._share, cost, monitoring, self._tell_thinned)
            try:
                made.start()
                self._thinning = made
            except Exception as error:  # an interpreter without what it takes: all is counted
                self.not_thinned = "%s: %s" % (type(error).__name__, error)
        self.cost_ns += now() - start

    def _start(self):
        self.profiler.enable()
        if _uses_monitoring(self.profiler):
            _listen_locally(self.profiler, self._codes)
        else:
            trace = sys.gettrace()
            # A manager (line_profiler >= 5), or the profiler itself before that: both can be put back after a pause.
            # The profiler's bare extension cannot be called, as its class in the package can.
            self._manager = trace if callable(trace) or trace is self.profiler else None

    def pause(self):
        """Stop counting on this thread; returns whether it was counting."""
        made = self._thinning
        if made is not None:
            if made.mode == duty.THINNED and self._manager is not None:
                return get_ident() == self._thread and made.pause()
            if made.census is not None:  # hot: no call for nothing
                self._end_census()
        if self._manager is not None and sys.gettrace() is self._manager:
            sys.settrace(None)
            self._paused = True
            return True
        return False

    def restore(self, was_on):
        """Count again if `pause` found it counting. A trace function of the user's own is left alone."""
        if not was_on:
            return
        if self._in_windows():
            self._thinning.go_on()
        elif sys.gettrace() is None and self._manager is not None:
            self._trace()

    def resume(self):
        """Count on the main thread from here on, inside Keras; returns whether that changed anything."""
        if self._manager is None or sys.gettrace() is not None or get_ident() != self._thread:
            return False
        if self._in_windows():
            was_off = not self._thinning.wanted
            self._thinning.go_on()
            return was_off
        self._trace()
        return True

    def _end_census(self):
        """A census stands in the place of the counting that it interrupts, and would put that back when it is over."""
        if self._thinning is not None and get_ident() == self._thread:
            self._thinning.end_census()

    def _in_windows(self):
        return self._manager is not None and self._thinning is not None and self._thinning.mode == duty.THINNED

    # What `thinning` asks for

    def counts_now(self):
        """Whether lines are being counted; on any thread."""
        if self._manager is None:
            return True
        if get_ident() == self._thread:
            return sys.gettrace() is self._manager
        return not self._paused

    def switch(self, on):
        """Count, or do not, on this thread; returns whether that changed anything."""
        if self._manager is None:
            _listen_locally(self.profiler, self._codes, on)
            return True
        if (sys.gettrace() is None) if on else (sys.gettrace() is self._manager):
            if on:
                self._trace()
            else:
                sys.settrace(None)
            return True
        return False

    def end_window(self):
        """Count no more on this thread; returns [(code, line)] of lines that have begun and are not counted yet."""
        if self._manager is None or self._manager is self.profiler or sys.gettrace() is not self._manager:
            self.switch(False)
            return []
        begun = line_codes.begun(self.profiler, self._by_bytecode)
        self.profiler.disable()  # forgets them, and takes its trace function away
        self._disabled = True
        return begun

    def trace_function(self):
        """What counts an event that a trace function of Python is told of; None: line_profiler < 5 has none."""
        return self._manager if self._manager is not self.profiler else None

    def hits(self):
        """Hits of all lines so far."""
        return sum(line[1] for lines in self.profiler.get_stats().timings.values() for line in lines)

    def is_profiled(self, code):
        """Whether the lines of `code` are counted."""
        return id(code) in self._profiled

    def key(self, code):
        """What the counts call the function of `code`: file, first line, name."""
        place = tally.place(code)
        if place not in self._keys:
            self._keys = {tally.place_of(key): key for key in self.profiler.get_stats().timings}
        return self._keys.get(place, place)

    def took(self, ns):
        """Our own work has taken `ns` on this thread, just now: that is in the time of the lines that called it."""
        if get_ident() == self._thread:
            self._own.add(ns)

    def touch(self, frame):
        """Remember the functions that a stack is in: part of their time passes where they are counted in windows."""
        while frame is not None:
            if id(frame.f_code) in self._profiled:
                self.tally.touched.add(tally.place(frame.f_code))
            frame = frame.f_back

    def _tell_thinned(self):
        """Have stacks sampled more often: times come from them then."""
        own_files.save(self._path + ".thinned", b"")

    def _trace(self):
        manager = self._manager
        self._paused = False
        if manager is self.profiler or self._disabled:
            self._disabled = False
            self.profiler.enable()  # puts its C trace function in place, and nothing else
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
            code = line_codes.with_consts(code, consts)
        if not _is_profiled(code):
            return code
        # line_profiler takes functions, and may change their code: one is made around it for its sake, and its code
        # is what must run.
        code = line_codes.apart(code, self.profiler, self._bytecodes)
        cells = tuple(_cell() for _ in code.co_freevars)
        function = types.FunctionType(code, {}, code.co_name, None, cells)
        self.profiler.add_function(function)
        self._profiled.add(id(function.__code__))
        self._kept.append(function)
        self._by_bytecode[hash(function.__code__.co_code)] = function.__code__
        if self._manager is None and _uses_monitoring(self.profiler):
            self._codes.append(function.__code__)
            _listen_locally(self.profiler, [function.__code__])
        return function.__code__

    def counts_everywhere(self, code):
        """Remember that the function of `code` is under `@profile`: it is counted on any thread, and inside Keras."""
        self._everywhere.add(tally.place(code))

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

    def _counts(self):
        """{(file, first line, name): [(line, hits, ticks)]} so far, without the loop by which the cost is measured."""
        counts = self.profiler.get_stats().timings
        return {key: lines for key, lines in counts.items() if key[0] != line_cost.FILE}

    def _functions(self):
        """[(key, exact counts, counts of windows)] of each function."""
        if self._thinning is None or not self._thinning.spans:
            return [(key, lines, []) for key, lines in self._counts().items()]
        if self._thinning.mode == duty.THINNED:
            self._thinning.settle()
        else:
            self.tally.exact()
        return self.tally.functions()

    def tax_ns(self):
        """What lines cost the program (ns): measured, or hits times what one costs."""
        if self.spending() is not None:
            return self.cost_ns + int(self._thinning.duty.spent_ns)
        return self.cost_ns + int(self.hits() * self._cost.event_ns if self._cost is not None else 0)

    def spending(self):
        """What counting in windows was: its fields, as the file has them; None: it was not."""
        made = self._thinning
        if made is None or not made.spans:
            return None
        return {
            "spans": made.spans,
            "open_ns": int(made.open_ns),
            "counted_ns": int(made.counted_ns),
            "events": int(made.events),
            "windows": made.windows,
            "tax_ns": int(made.duty.spent_ns),
            "duty": made.counted_ns / float(made.open_ns) if made.open_ns else None,
        }

    def _write(self):
        found = self._functions()
        functions = [
            {
                "file": file,
                "first_line": first,
                "function": name,
                "lines": lines,
                "everywhere": tally.place_of((file, first, name)) in self._everywhere,
            }
            for (file, first, name), lines, _ in found
        ]
        for written, (key, _, _) in zip(functions, found):
            own = self._own.of(key)
            if own:
                written["own"] = own
        if self.spending() is not None:
            mostly = self._thinning.is_mostly_exact()
            for written, (key, _, scaled) in zip(functions, found):
                # One that no window met may have run between them all the same.
                written["thinned"] = not mostly or tally.place_of(key) in self.tally.touched
                written["scaled"] = scaled
        content = {
            "format": "dlprof.lines/1",
            "unit_ns": _unit_ns(self.profiler),
            # On every thread and inside Keras; else where `resume` and `restore` say.
            "on_threads": self._manager is None and _uses_monitoring(self.profiler),
            "functions": functions,
        }
        if self.spending() is not None:
            content["thinned"] = self.spending()
        own_files.save_whole(self._path, wire.json_payload(content))

    def before_fork(self):
        """Python 3.12 warns a program that forks while it has threads: ours is none that it knows of."""
        if self._watched_by_thread():
            self._thinning.stop(0.5)

    def after_fork(self):
        """The same process after the fork."""
        if self._watched_by_thread():
            self._thinning.start()

    def _watched_by_thread(self):
        """Whether a thread of ours counts by itself; none does in a child that was forked, which forks again."""
        return self._thinning is not None and self._manager is None and not self._is_child

    def end(self):
        """The program is over: count no more."""
        if self._thinning is not None:
            self._thinning.stop()
        self.pause()

    def forked(self):
        """In a child that was forked: what it counts is not kept, so nothing is counted."""
        self._is_child = True
        self._end_census()
        if self._thinning is not None:
            self._thinning.stop()
        if self._manager is not None:
            if sys.gettrace() is self._manager:
                sys.settrace(None)
            self._manager = None

    def stop(self):
        """Count no more, in a process that goes on: no trace function is left behind, and no tool."""
        if self._thinning is not None:
            self._thinning.stop(1)
        self.pause()
        self.profiler.disable()

    def stopped(self):
        """Whether somebody else took the trace function away."""
        if self._thinning is not None and self._thinning.in_census():
            return False
        if self._in_windows():
            return sys.gettrace() not in (None, self._manager)
        return self._manager is not None and sys.gettrace() is not self._manager


def make(config, script, path):
    """Start line profiling as `config` says.

    Args:
        config: {"patterns": [...], "package": folder that holds line_profiler, or None, "share": of the wall time that
            counting may cost; None: no limit}.
        script: Absolute path of the script.
        path: JSON file for the counts.

    Returns:
        Lines: Ready to `start`.

    Raises:
        ImportError: When line_profiler cannot be had on this interpreter.
    """
    module = line_module.LineModule(config.get("package"))
    share = config.get("share")
    return Lines(module.core()(), Selection(script, config.get("patterns", [])), path, share, module)


def _is_profiled(code):
    return code.co_name == "<module>" or (bool(code.co_flags & _FUNCTION) and not code.co_name.startswith("<"))


def _cell():
    def outer(value=None):
        return lambda: value

    return outer().__closure__[0]


def _unit_ns(profiler):
    return profiler.get_stats().unit * 1e9


def _uses_monitoring(profiler):
    return hasattr(sys, "monitoring") and sys.gettrace() is None and hasattr(profiler, "tool_id")


def _listen_locally(profiler, codes, on=True):
    """Ask for events of `codes` only, instead of those of every line of the program; or for none."""
    monitoring = sys.monitoring
    tool = profiler.tool_id
    if monitoring.get_tool(tool) is None:
        return
    events = monitoring.events
    monitoring.set_events(tool, events.NO_EVENTS)
    for code in codes:
        wanted = events.LINE | events.PY_RETURN | events.PY_YIELD
        monitoring.set_local_events(tool, code, wanted if on else events.NO_EVENTS)
