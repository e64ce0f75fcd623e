"""Training loops and their steps: what is measured between two batches, in bounded memory."""

from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc import interrupts
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.lifted_hooks import LiftedHooks
from dlprof_probes.inproc.one_hot import OneHot
from dlprof_probes.inproc.passed_again import Passed

_RECORD = wire.STEP_RECORD.pack
_TYPE = wire.Record.STEP
_SIZE = wire.STEP.size
_LARGEST = 2**31 - 1
"""What the epoch's field takes."""
_KINDS = {"train_on_batch": "fit", "test_on_batch": "evaluate", "predict_on_batch": "predict"}


def pack(fields):
    """The record of a step, out of the fields of `wire.STEP`."""
    return _RECORD(_TYPE, _SIZE, *fields)


def known_epoch(number):
    """The index of an epoch as the stream takes it; NONE where a program counts beyond that."""
    return number if 0 <= number <= _LARGEST else wire.NONE


class Loop(object):
    """One run of fit, evaluate or predict (or of the user's own loop around `train_on_batch`).

    Attributes:
        batches: `BatchShapes` of calls of `train_on_batch`; None: nobody looks.
        begin: Start of the current step (ns); 0 outside a step.
        callbacks: Time in batch callbacks of the current step (ns).
        opened: When it began (ns).
        outer: The loop that this one runs inside of, such as the training of a validation; None: none.
        device_wait: Time of the current step in which the host waited for values of the device (ns).
        valued: When the last values of training steps were known (ns), on whatever thread.
        waited: Time for which the call of the step function waited for the batch (ns), where Keras fetches it there.
        following: The index that the next step has, where nobody says another one.
        user_callbacks: Whether a callback of the user's own code takes part.
        epoch: Index of the epoch, or `wire.NONE`.
        described, data_seen: Whether facts about its model, and its data, were recorded.
        passed: Batches of its first epoch, as far as they are seen; None: nobody looks any longer.
        joined: It ran already when the probe came.
        watch: Called after each step with (loop, steps, flags), while kernel windows are waited for; else None.
        on_first: Called when the first call of its step function is over, or has failed; None: nobody asks.
        kind, steady_since, warmed, window_after, window_steps: What `kernels.Windows` keeps about the loop.
    """

    __slots__ = (
        "_merged",
        "_recorder",
        "_thread",
        "_waits",
        "batches",
        "begin",
        "call_ns",
        "call_start",
        "callbacks",
        "compiled",
        "compiles",
        "data_seen",
        "described",
        "device_wait",
        "epoch",
        "first",
        "following",
        "joined",
        "kind",
        "on_first",
        "one_hot",
        "opened",
        "outer",
        "passed",
        "previous_end",
        "span",
        "steady_since",
        "step_index",
        "user_callbacks",
        "valued",
        "waited",
        "warmed",
        "watch",
        "window_after",
        "window_steps",
    )

    def __init__(self, recorder, compiles, span, waits=(False,), outer=None):
        self._recorder = recorder
        recorder.has_loops = True
        self._thread = get_ident()
        self._merged = None
        self._waits = waits
        self.opened = now()
        self.outer = outer
        self.valued = 0
        self.compiles = compiles
        self.span = span
        self.epoch = wire.NONE
        self.user_callbacks = False
        self.previous_end = 0
        self.step_index = self.following = 0
        self.watch = None
        self.batches = None
        self.on_first = None
        self.joined = False
        self.described = self.data_seen = False
        self.passed = Passed()
        self.one_hot = OneHot()
        self.kind = ""
        self.warmed = self.steady_since = 0
        self._clear()

    def _clear(self):
        self.begin = 0
        self.callbacks = 0
        self.device_wait = 0
        self.waited = 0
        self.call_start = 0
        self.call_ns = 0
        self.compiled = self.compiles[0]
        self.first = False

    def again(self, span, time_ns):
        """It begins once more, in another span: what was told of its model and data is not told again."""
        self.opened = time_ns
        self.span = span
        self.epoch = wire.NONE
        self.valued = self.previous_end = self.step_index = self.following = 0
        self.described = self.data_seen = True
        self.passed = self.watch = self.on_first = None
        self._clear()

    def start_epoch(self, epoch):
        """A new epoch begins: its first batch is waited for from now on."""
        merged = self.take_merged()
        if merged is not None:
            self._recorder.step(pack(merged), merged[6])
        self.epoch = known_epoch(epoch)
        self.step_index = self.following = 0
        self.previous_end = now()
        self._clear()

    def called(self, start, end, first):
        """The step function ran from `start` to `end`; `first`: it had never been called before."""
        if not self.call_start:
            self.call_start = start
        self.call_ns += end - start
        if first:
            self.first = True
            if self.on_first is not None:
                ask, self.on_first = self.on_first, None
                ask()
        if not self.begin and self.joined:  # the step in which it was joined: its begin is not known
            self._clear()
        elif not self.begin:  # Keras gives no batch hooks here (evaluate and predict before 2.3)
            self.begin = start
            self._emit(self.step_index, 1, end, 0, 0)

    def finish(self, args, end):
        """The step is over; `args` are those of `CallbackList.on_*_batch_end(self, batch, logs)`. Never raises."""
        step = self.step_index
        try:
            try:
                # With steps_per_execution > 1 Keras names the last batch of the execution here.
                count = args[1] - step + 1
            except (IndexError, TypeError):
                count = 1
            if self.previous_end:
                self._emit(step, count if count > 0 else 1, end, self.begin - self.previous_end, wire.STEP_HAS_INPUT)
            else:
                self._emit(step, count if count > 0 else 1, end, 0, 0)
            self.following = self.step_index
        except Exception as error:
            if interrupts.is_from_handler(error):
                raise
            self._finish_odd(step, end, error)

    def _finish_odd(self, step, end, error):
        """The program itself called the callbacks, with what is no number of a step: count on from the last one."""
        text = "A step was called %.80r, which is no number of a step (%s): it was counted as the next one."
        self._recorder.note_once("odd-step", text % (type(step).__name__, type(error).__name__))
        try:
            waited = self.begin - self.previous_end if self.previous_end else 0
            self._emit(self.following, 1, end, waited, wire.STEP_HAS_INPUT if self.previous_end else 0)
            self.following = self.step_index
        except Exception as again:
            if interrupts.is_from_handler(again):
                raise
            self._recorder.note_once("lost-step", "A step could not be recorded: %s." % type(again).__name__)
            self._clear()

    def _emit(self, step, count, end, waited, flags):
        """Record the current step, and get ready for the next one. Hot: no more calls than needed."""
        if self.first:
            flags |= wire.STEP_FIRST | wire.STEP_COMPILED
        elif self.compiled != self.compiles[0]:
            flags |= wire.STEP_COMPILED
        # A wait inside the call is told as one before the step, which begins that much later.
        begin = self.begin + self.waited
        if self.waited:
            waited += self.waited
            flags |= wire.STEP_HAS_INPUT
            self.call_ns -= self.waited
            self.call_start += self.waited
            self.begin = begin
        offset = 0
        if self.call_start:
            flags |= wire.STEP_HAS_CALL
            offset = self.call_start - begin
        if self._waits[0]:
            flags |= wire.STEP_HAS_WAIT
        recorder = self._recorder
        if recorder.merge > 1:
            self._emit_merged(step, count, end, waited, offset, flags)
        else:
            recorder.step(
                _RECORD(
                    _TYPE,
                    _SIZE,
                    self._thread,
                    self.span,
                    self.epoch,
                    step,
                    count,
                    begin,
                    end,
                    waited,
                    self.callbacks,
                    offset,
                    self.call_ns,
                    self.device_wait,
                    flags,
                ),
                end,
            )
        self.previous_end = end
        self.step_index = step + count
        self.begin = self.callbacks = self.device_wait = self.waited = self.call_start = self.call_ns = 0
        self.compiled = self.compiles[0]
        self.first = False
        if self.watch is not None:
            self.watch(self, count, flags)

    def _emit_merged(self, step, count, end, waited, offset, flags):
        fields = (
            self._thread,
            self.span,
            self.epoch,
            step,
            count,
            self.begin,
            end,
            waited,
            self.callbacks,
            offset,
            self.call_ns,
            self.device_wait,
            flags,
        )
        fields = self._merge(fields)
        if fields is not None:
            self._recorder.step(pack(fields), end)

    def _merge(self, new):
        """Put several steps into one record; returns the record when it is full, else None."""
        old = self._merged
        if old is None:
            self._merged = new
            return None
        sums = tuple(a + b for a, b in zip(old[7:12], new[7:12]))
        times = (old[5], new[6], sums[0], sums[1], old[9], sums[3], sums[4])
        self._merged = old[:4] + (old[4] + new[4],) + times + (old[12] | new[12],)
        if self._merged[4] < self._recorder.merge:
            return None
        return self.take_merged()

    def take_merged(self):
        """The steps that wait to become one record, or None."""
        merged, self._merged = self._merged, None
        return merged


class Loops(object):
    """The loops that run now, by thread.

    Attributes:
        current: Thread identifier to its innermost `Loop`; the wrappers read it directly.
        outer: Thread identifier to the loops, and None, around that one; hot hooks read how many.
        compiles: One-element list: how many graphs were compiled so far in this process.
        compiled_at: When the last of them was (ns).
        waits: One-element list: whether waits for the device are looked at (`Waits`).
        lifted: `LiftedHooks`, which are back when a loop begins.
    """

    def __init__(self, recorder, windows):
        self.current = {}
        self.lifted = LiftedHooks(self.current)
        self.compiles = [0]
        self.compiled_at = 0
        self.waits = [False]
        self._recorder = recorder
        self._windows = windows
        self.outer = {}
        self._on_batch = {}

    def open(self, span, kind):
        """Start a loop in span `span`, of that kind, on the calling thread."""
        self.lifted.put_back()
        ident = get_ident()
        loop = Loop(self._recorder, self.compiles, span, self.waits, self.current.get(ident))
        outer = self.outer.setdefault(ident, [])
        outer.append(self.current.get(ident))
        self.current[ident] = loop
        self._windows.opened(loop, kind, nested=outer[-1] is not None)
        return loop

    def reopen(self, loop, span, time_ns):
        """Start a loop that is over again, in span `span`, on the thread that it ran on, which has none.

        No window opens. Hot: calls for little are many.
        """
        loop.again(span, time_ns)
        ident = get_ident()
        self.outer[ident].append(self.current.get(ident))
        self.current[ident] = loop

    def close_again(self, loop):
        """End a loop that `reopen` started. Hot, too."""
        ident = get_ident()
        if self.current.get(ident) is loop and loop._merged is None:
            self.current[ident] = self.outer[ident].pop()
        else:
            self.close(loop)

    def depth(self):
        """How many loops run on the calling thread."""
        return len(self.outer.get(get_ident(), ()))

    def unwind(self, depth):
        """End the loops of the calling thread but for the outermost `depth`: an exception came out of a hook."""
        while self.depth() > depth:
            self.close(self.current.get(get_ident()))

    def close(self, loop):
        """End `loop`, if it runs, and any loop inside it that was left open."""
        ident = get_ident()
        outer = self.outer.get(ident, [])
        if loop is not self.current.get(ident) and loop not in outer:
            return
        while outer:
            ended = self.current.get(ident)
            self._windows.closed(ended)
            if ended is not None and ended._merged is not None:
                self._end(ended)
            self.current[ident] = outer.pop()
            if ended is loop:
                break

    def _end(self, loop):
        merged = loop.take_merged() if loop is not None else None
        if merged is not None:
            self._recorder.step(pack(merged), merged[6])

    def enter_on_batch(self, name):
        """A call of `train_on_batch` or its kin outside any loop begins: a step of an implied loop.

        Returns:
            Loop: The implied loop, or None when a loop is already running.
        """
        ident = get_ident()
        if self.current.get(ident) is not None or self._recorder.stack():
            return None
        self.lifted.put_back()
        loop = self._on_batch.get((ident, name))
        if loop is None:
            span = self._recorder.begin(wire.SpanKind.ON_BATCH, name, nests=False)
            self._recorder.end(span)
            loop = self._on_batch[(ident, name)] = Loop(self._recorder, self.compiles, span, self.waits)
            self._windows.opened(loop, _KINDS.get(name, ""), nested=name not in _KINDS)
        loop._clear()
        loop.previous_end = 0
        self.current[ident] = loop
        loop.begin = now()
        return loop

    def leave_on_batch(self, loop):
        """That call is over."""
        if loop.begin:
            loop._emit(loop.step_index, 1, now(), 0, 0)
        self.current[get_ident()] = None

    def thread_ended(self, ident):
        """The calling thread ends, and with it the loops that run on it."""
        self.unwind(0)
        for key in [key for key in list(self._on_batch) if key[0] == ident]:
            loop = self._on_batch.pop(key)
            self._windows.closed(loop)
            self._end(loop)
        self.current.pop(ident, None)
        self.outer.pop(ident, None)

    def forget(self):
        """No loop runs any more: this is a forked child."""
        self.current.clear()
        self.outer.clear()
        self._on_batch.clear()

    def finish(self):
        """Write what the loops still hold, at the end of the process."""
        for loop in list(self._on_batch.values()) + list(self.current.values()):
            self._end(loop)
