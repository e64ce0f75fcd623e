"""When the engine's tracer runs: a window of some steady steps in the first loop of each kind that can bear it.

Where a later loop of that kind turns out to be what the run is for, as after a short training on other data, it gets
a window in the place of the first one.
"""

import os
from _thread import allocate_lock
from os import makedirs, remove
from shutil import rmtree
from threading import get_ident
from time import sleep

from dlprof_probes import wire
from dlprof_probes.inproc import memory_room, own_files
from dlprof_probes.inproc.clock import anchor, now
from dlprof_probes.inproc.kernels import freed_memory
from dlprof_probes.inproc.kernels.affordable import LEAST_STEPS, Affordable
from dlprof_probes.inproc.thread_ends import is_waited_for

WARM_STEPS = 5
"""Plain steady steps before a window, where the loop is long enough."""
_LONG_STEP_NS = 500 * 1000 * 1000, 5000 * 1000 * 1000
"""A step that takes between the two takes that for no want of warmth, and can still be traced; there may be few ..."""
_LONG_WARM_STEPS = 2
"""... so that this many are enough before a window."""
_OUTGROWN = 5
"""A loop that has gone on for so many times as long as the traced one went on from its window to its end ..."""
_LEAST_NS = 1000000000
"""... and for so long (ns), is the one that matters."""
_TOO_FEW = "too few steady steps for a window; --kernels all traces them too"
_LONG_FOR_DAEMON_NS = 1000 * 1000 * 1000
"""A thread that Python stops as it ends has a window where its steps are no longer: one is waited for, so that it can
end its tracer, which would take the process with it."""
_STEPS_WAITED_FOR, _LEAST_WAIT_NS, _SWITCHING_OFF_S = 3, 100 * 1000 * 1000, 30
"""So many such steps are waited for at most, and so long (ns); and for a tracer that is being switched off (s)."""
_MAY_BE_STOPPED = (
    "the training ran on a thread that Python does not wait for (a daemon), in steps too long to be waited for as the "
    "process ends"
)
_NOT_ENDED = "the process ended while another thread was traced, which alone could end that"


class NoWindows(object):
    """Stands in where no kernels are wanted: every method does nothing."""

    folder = None
    active = None
    everything = False
    is_set = True

    def use(self, name, make=None):
        """No tracer is needed."""

    def decline(self, reason):
        """No reason is needed."""

    def opened(self, loop, kind, nested):
        """No loop is watched."""

    def planned(self, loop, steps):
        """No loop is watched."""

    def closed(self, loop):
        """No loop is watched."""

    def thread_ended(self, ident):
        """No thread is traced."""

    def leave_others(self):
        """No thread is traced."""

    def finish(self):
        """Nothing to end."""

    def forget(self):
        """Nothing to forget."""

    def annotation(self, text):
        """No annotation is made."""
        return


class Windows(object):
    """The windows of one process.

    Args:
        recorder: `Recorder`.
        folder: Where the tracers' files go; made when it is needed.
        mode: `windows`, or `all`: whole loops.
        steps: Steps of a window.
        gpu: Whether the tracers may take the GPU.
        share: Share of the wall time that windows may cost; None: no limit.

    Attributes:
        active: The `_Window` that is open, or None.
        everything: Whole loops are traced, not windows.
        is_set: It is known which engine is to be traced.
    """

    def __init__(self, recorder, folder, mode, steps, gpu=True, share=None):
        self.folder = folder
        self.active = None
        self.is_set = False
        self._recorder = recorder
        self.everything = mode == "all"
        self._steps = steps
        self._gpu = gpu
        self._affordable = Affordable(share)
        self._tracer = None
        self._engine = None
        self._declined = None
        self._done = set()
        self._kept = {}
        self._count = 0
        self._cost_ns = 0
        self._failure = None
        self._short = None
        self._switching = allocate_lock()
        """Held while the tracer is switched on or off. Steps never wait for it: who does not get it goes without."""
        self._is_ending = False

    def use(self, name, make=None):
        """Trace that engine from here on.

        Args:
            name: Of the engine, as the windows are to call it.
            make: Function that gives its `Tracer`, or None where it has none; it may raise.
        """
        self._engine = name
        self.is_set = True
        try:
            self._tracer = make() if make is not None else None
        except Exception as error:
            self._failure = "%s: %s" % (type(error).__name__, error)
        if self._tracer is not None:
            self._tracer.gpu, self._tracer.whole_loops = self._gpu, self.everything

    def has_traced(self, name):
        """Whether that engine is the one to be traced, or another one was traced already."""
        return self._engine == name or bool(self._count) or self.active is not None

    def decline(self, reason):
        """Say why there will be no window, unless an engine is used all the same."""
        self._declined = reason

    def opened(self, loop, kind, nested):
        """A loop begins; `nested`: inside another one, so it is none of ours."""
        if nested or self._tracer is None or self._tracer.whole_run or self._failure or self.active is not None:
            return
        if self.everything and not self._may_trace_here():
            return
        kept = self._kept.get(kind)
        if kind not in self._done or self.everything or (kept is not None and kept.is_short()):
            loop.window_after = WARM_STEPS
            loop.window_steps = self._steps
            loop.kind = kind
            loop.watch = self._after_step
            if self.everything:
                self._start(loop)

    def planned(self, loop, steps):
        """Keras says how many steps the loop will have: a short one gets a shorter window, sooner."""
        if loop.watch is None or self.everything or not steps:
            return
        self._affordable.planned(steps)
        loop.window_after = max(1, min(WARM_STEPS, (steps - 1) // 4))
        loop.window_steps = max(1, min(self._steps, (steps - 1 - loop.window_after) // 2))
        if steps <= loop.window_after:
            loop.window_after = steps + 1  # no step is left for a window

    def _after_step(self, loop, count, flags):
        """A step is over; called by the loop itself, on its own thread."""
        window = self.active
        if window is not None:
            if window.loop is loop and window.thread == get_ident():
                window.steps += count
                if self._is_ending:
                    self._stop()
                    return
                if self.everything:
                    return
                if self._affordable.is_enough(window.begin, loop.previous_end, window.steps, loop.window_steps):
                    # Of a step in which the tracer needed memory little can be said; the next one has that memory.
                    before, window.last_resident = window.last_resident, freed_memory.resident()
                    is_new = freed_memory.has_grown(before, window.last_resident) and not window.guard.asked
                    if window.steps >= LEAST_STEPS or not is_new:
                        self._stop()
            return
        self._affordable.plain_step(loop.previous_end, count, flags & wire.STEP_COMPILED, loop.epoch)
        if loop.kind in self._done:
            self._look_again(loop, flags)
            return
        loop.window_after = WARM_STEPS if flags & wire.STEP_COMPILED and loop.warmed else loop.window_after
        loop.warmed = 0 if flags & wire.STEP_COMPILED else loop.warmed + count
        if (
            loop.warmed >= self._warm_after(loop)
            and loop.kind not in self._done
            and self._affordable.another(loop.kind)
        ):
            if self._has_room(loop):
                self._start(loop)

    def _warm_after(self, loop):
        """How many steady steps there are to be before a window of that loop."""
        least, most = _LONG_STEP_NS
        is_long = least <= (self._affordable.plain_ns or 0) <= most
        return min(loop.window_after, _LONG_WARM_STEPS) if is_long else loop.window_after

    def _look_again(self, loop, flags):
        """A step is over of a loop whose kind was traced, in a loop that was over soon."""
        kept = self._kept.get(loop.kind)
        if kept is None or kept.is_again:
            loop.watch = None
        elif flags & wire.STEP_COMPILED or not loop.steady_since or kept.lasted is None:  # the first still runs
            loop.steady_since = loop.previous_end
        elif loop.previous_end - loop.steady_since >= max(_LEAST_NS, _OUTGROWN * kept.lasted) and self._has_room(loop):
            self._start(loop)  # whatever the first one took: without this one next to nothing is known

    def _has_room(self, loop):
        """Whether the tracer may take memory: that it takes too much would end the program."""
        left = memory_room.left()
        if left is None or left >= self._tracer.memory_bytes:
            return True
        self._done.add(loop.kind)
        self._short = "only %d MB of memory were left; tracing may take %d MB" % (
            left // 1000000,
            self._tracer.memory_bytes // 1000000,
        )
        return False

    def closed(self, loop):
        """A loop is over."""
        window = self.active
        if window is not None and window.loop is loop:
            if window.thread == get_ident():
                self._stop()
        elif loop is not None and loop.watch is not None and loop.kind not in self._done:
            self._short = _TOO_FEW
        if loop is not None:
            loop.watch = None
            kept = self._kept.get(loop.kind)
            if kept is not None and kept.loop == loop.span:
                kept.lasted = loop.previous_end - kept.begin

    def thread_ended(self, ident):
        """The calling thread ends: its window, if one is open, is to be closed here and now."""
        window = self.active
        if window is not None and window.thread == ident:
            self._stop()

    def _may_trace_here(self):
        """Whether the calling thread can end what it begins: a daemon may be stopped anywhere."""
        if not self._tracer.of_thread or is_waited_for():
            return True
        plain_ns = self._affordable.plain_ns
        if plain_ns and plain_ns <= _LONG_FOR_DAEMON_NS:
            return not self._is_ending
        self._short = _MAY_BE_STOPPED
        return False

    def leave_others(self):
        """The process is about to end, and with it threads that Python does not wait for: one of them may be traced.

        Its step in which it is goes on to its end, where it switches its tracer off; more is not waited for.
        """
        window = self.active
        if window is None or not self._tracer.of_thread or window.thread == get_ident():
            return
        self._is_ending = True
        steps_ns = _STEPS_WAITED_FOR * min(self._affordable.plain_ns or 0, _LONG_FOR_DAEMON_NS)
        until = now() + max(_LEAST_WAIT_NS, steps_ns)
        while self.active is window and now() < until:
            sleep(0.001)
        if self.active is not window and self._switching.acquire(True, _SWITCHING_OFF_S):
            self._switching.release()

    def _start(self, loop):
        if not self._may_trace_here() or not self._switching.acquire(False):
            return
        try:
            if self.active is None and not self._failure:
                self._switch_on(loop)
        finally:
            self._switching.release()

    def _switch_on(self, loop):
        self._done.add(loop.kind)
        try:
            self._tracer.drain()
            began = now()
            folder = os.path.join(self.folder, "window-%03d" % self._count)
            makedirs(folder)
            before = freed_memory.resident()
            self._tracer.start(folder)
            window = _Window(loop, folder, began, now(), before)
        except Exception as error:
            self._abandon()
            self._fail("the tracer could not be started", error, loop)
            return
        window.guard.start()
        self.active = window
        self._cost(began, window.begin, "start kernel tracing")
        loop.previous_end = loop.previous_end and now()

    def _stop(self):
        if not self._switching.acquire(False):
            return
        try:
            window, self.active = self.active, None
            if window is not None:
                self._switch_off(window)
        finally:
            self._switching.release()

    def _switch_off(self, window):
        loop = window.loop
        window.guard.stop()
        try:
            self._tracer.drain()
        except Exception:
            pass  # the user's own error, which they will see in their own call
        ended = now()
        try:
            files = self._tracer.stop() if window.steps else self._give_up(window)
            freed_memory.give_back(window.resident)
            stopped = now()
            if window.steps:
                self._keep(window, ended, stopped, files)
                self._count += 1
                switching = window.begin - window.asked + stopped - ended
                slowed = self._affordable.spent(switching, window.begin, ended, window.steps)
                self._replace(window, slowed)
            self._cost(ended, stopped, "stop kernel tracing")
        except Exception as error:
            self._fail("the tracer could not be stopped", error, loop)
        if not self.everything:
            loop.watch = None
        loop.previous_end = loop.previous_end and now()

    def _give_up(self, window):
        """The loop ended right after the window began: it holds nothing, and another loop may have one."""
        self._abandon()
        rmtree(window.folder, ignore_errors=True)
        self._done.discard(window.loop.kind)
        self._short = _TOO_FEW

    def _abandon(self):
        """Leave the engine untraced, however far its tracer had come."""
        try:
            self._tracer.stop()
        except Exception:
            pass  # there was nothing to be written

    def _keep(self, window, ended, stopped, files):
        facts = {
            "engine": self._engine,
            "loop": window.loop.kind,
            "loop_id": window.loop.span,
            "thread": window.thread,
            "begin_ns": window.begin,
            "end_ns": ended,
            "steps": window.steps,
            "start_cost_ns": window.begin - window.asked,
            "stop_cost_ns": stopped - ended,
            "files": [os.path.relpath(path, self.folder) for path in files],
            "anchor": anchor(),
            "zero_ns": self._tracer.zero_ns,
        }
        own_files.save(window.folder + ".json", wire.json_payload(facts))

    def _replace(self, window, slowed):
        """This is the window of its kind; what was traced of a loop that mattered less is taken away."""
        kind, before = window.loop.kind, self._kept.get(window.loop.kind)
        self._kept[kind] = _KeptWindow(window, slowed, before is not None)
        if before is not None and not self.everything:
            self._cost_ns += before.slowed  # nobody can compare its steps any more
            try:
                remove(before.folder + ".json")
            except OSError:
                pass  # somebody has taken it away
            rmtree(before.folder, ignore_errors=True)

    def _cost(self, start, end, name):
        self._cost_ns += end - start
        self._recorder.complete(wire.SpanKind.DLPROF, name, start, end)

    def _fail(self, what, error, loop):
        self._failure = "%s: %s: %s" % (what, type(error).__name__, str(error)[:300])
        self._recorder.note("kernels-failed", "Kernels are missing: %s." % self._failure)
        loop.watch = None

    def finish(self):
        """The process ends: close what is open, and say how it went."""
        window = self.active
        if window is not None and self._tracer.of_thread and window.thread != get_ident():
            self._short = _NOT_ENDED
        elif window is not None:
            self._stop()
        if self._tracer is not None and self._tracer.whole_run:
            self._finish_whole_run()
            return
        source = "measured: switching the tracer on and off; what it costs in steps is added by comparison"
        if self._failure:
            self._recorder.probe("kernels", "failed", self._failure, self._cost_ns or None, source)
        elif self._tracer is None:
            reason = "no engine with a tracer was seen" if self._engine is None else "no tracer for %s" % self._engine
            self._recorder.probe("kernels", "unavailable", self._declined or reason)
        elif not self._count:
            self._recorder.probe("kernels", "unavailable", self._short or "no loop with enough steps was seen")
        else:
            self._recorder.probe("kernels", "on", None, self._cost_ns, source, self._affordable.thinned())

    def _finish_whole_run(self):
        source = "not measured: the engine times its operators in every call"
        if self._tracer.stop():
            self._recorder.probe("kernels", "on", None, None, source)
        else:
            self._recorder.probe("kernels", "unavailable", "no function was compiled under its profiler")

    def forget(self):
        """Open no window, and leave alone the one that is open: this is a forked child."""
        self.active = self._tracer = None

    def annotation(self, text):
        """Begin a range called `text` in the trace; a function that ends it, or None outside a window."""
        window = self.active
        if window is None or (self._tracer.of_thread and window.thread != get_ident()):
            return None
        return self._tracer.annotation(text)


class _KeptWindow(object):
    """The window of a kind of loops.

    Attributes:
        loop: The span of the loop.
        begin: When it began (ns).
        slowed: By how much it made its steps longer (ns).
        lasted: How long the loop went on from there (ns); None: it still runs.
        is_again: It has taken the place of another one, and stays.
    """

    def __init__(self, window, slowed, is_again):
        self.slowed = slowed
        self.folder = window.folder
        self.loop = window.loop.span
        self.begin = window.begin
        self.lasted = None
        self.is_again = is_again

    def is_short(self):
        """Whether its loop is over, so that another one may matter more."""
        return self.lasted is not None and not self.is_again


class _Window(object):
    def __init__(self, loop, folder, asked, begin, resident):
        self.loop = loop
        self.thread = get_ident()
        self.resident = self.last_resident = resident
        self.guard = freed_memory.Guard(resident)
        self.folder = folder
        self.asked = asked
        self.begin = begin
        self.steps = 0
