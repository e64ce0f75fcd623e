"""Writes the loops that were found as the hooks of Keras write theirs: spans, epochs, steps, kernel windows."""

from dlprof_probes import wire
from dlprof_probes.inproc import facts as known
from dlprof_probes.inproc import loops, zeros
from dlprof_probes.inproc.clock import now

_ZEROS_AT_MOST = 8
"""Trainings at which they are looked for: a search of hyper-parameters has thousands, on the same data."""


class _Running(object):
    """A loop that is written."""

    __slots__ = ("batches", "before", "engine", "epoch", "file", "loop", "name", "span")

    def __init__(self, name, span, loop, file, engine):
        self.name = name
        self.engine = engine
        self.file = file
        self.span = span
        self.loop = loop
        self.epoch = None
        self.batches = self.before = 1


class Log(object):
    """The log of `OwnLoops`.

    Args:
        probe: `Probe`.
    """

    def __init__(self, probe):
        self._probe = probe
        self._trainings = 0
        self._describe = probe.guard(self._described, {}, goes_on=True)
        self._tell_memory = probe.guard(self._memory_of, goes_on=True)
        self._tell_end = probe.guard(self._at_end, goes_on=True)

    def open(self, kind, begin, place, facts, cause):
        """A loop has begun.

        Args:
            kind: `fit` or `evaluate`.
            begin: When (ns).
            place: File and line.
            facts: What is known of it.
            cause: What showed that there is a training: engine, optimiser of whatever kind, and the frames around
                the update, innermost first. None: it is none.
        """
        probe = self._probe
        told = dict(facts, how="inferred")
        if cause is not None:
            told.update(self._describe(*cause) or {})
        span = probe.recorder.begin_at(kind, kind, begin, place)
        probe.recorder.detail(span, told)
        if cause is not None:
            self._tell_memory(span, *cause)
        loop = loops.Loop(probe.recorder, probe.loops.compiles, span, probe.loops.waits)
        loop.opened = begin
        loop.previous_end = begin
        if probe.loops.compiled_at >= begin:
            loop.compiled = -1  # the first step, which is over, compiled something
        probe.windows.opened(loop, kind, nested=cause is None)
        return _Running(kind, span, loop, place[0], cause[0] if cause is not None else None)

    def _described(self, engine, optimizer, frames):
        """Facts about the training, as Keras' hooks have them; its engine takes the windows."""
        self._trace(engine)
        name = getattr(optimizer, "dlprof_name", None) or type(optimizer).__name__
        layers = engine.trained_layers(optimizer, frames) or []
        model = {"layers": layers, "models": [], "optimizer": {"name": name, "class": name}}
        training = {"threads": known.threads(self._probe.engines), "flags": known.flags(self._probe.engines)}
        keras = known.settings_of_keras()
        if keras["policy"] not in (None, keras["floatx"]):  # it was set; a Keras that is only loaded has nothing to say
            training["policy"] = keras["policy"]
        weights = engine.trained_weights(optimizer)
        if weights:
            training["weights"] = weights
        self._trainings += 1
        if self._trainings <= _ZEROS_AT_MOST:
            begin = now()
            training["zeros"] = zeros.at_hand(frames)
            self._probe.recorder.complete(wire.SpanKind.DLPROF, "look for zeros", begin, now())
        return {"model": model, "training": training}

    def _memory_of(self, span, engine, optimizer, frames):
        """What the optimiser of a training, and what it trains, hold after its first update."""
        self._probe.descriptions.held_by_optimizer(span, optimizer, lambda: engine.memory_of(optimizer, frames))

    def _trace(self, engine):
        """Take the tracer of the engine that trains; Keras may have been loaded for another, and not used."""
        windows = self._probe.windows
        if windows.folder is not None and not (windows.is_set and windows.has_traced(engine.name)):
            engine.alone()

    def epoch(self, running, number, begin):
        """An epoch has begun."""
        known = loops.known_epoch(number)
        running.epoch = self._probe.recorder.begin_at(wire.SpanKind.EPOCH, str(known), begin, ("", 0))
        compiled = running.loop.compiled
        running.loop.start_epoch(known)
        running.loop.compiled = compiled  # its first step has been going on, and may have compiled something

    def end_epoch(self, running, end):
        """It is over."""
        self._probe.recorder.end(running.epoch, end)
        running.epoch = None

    def step(self, running, begin, end, waited, count, batches):
        """Steps are over: a train step of so many batches, or evaluation steps.

        Gives when the next one may begin (ns): a tracer that was switched behind this one took time.
        """
        loop = running.loop
        usual, running.before = min(batches, running.before), batches
        if usual > running.batches:  # of two steps in turn: a loader that looks ahead gives two before the first
            running.batches = usual
            self._probe.recorder.detail(running.span, {"batches_per_step": usual})
        loop.begin = begin
        compiled_at = self._probe.loops.compiled_at
        if compiled_at < begin:
            loop.compiled = loop.compiles[0]  # what was compiled since the step before was between the two
        if waited is None:
            loop._emit(loop.step_index, count, end, 0, 0)
        else:
            loop._emit(loop.step_index, count, end, waited, wire.STEP_HAS_INPUT)
        if compiled_at > end:
            loop.compiled = -1  # this one was over by then, and is told only now: the next one compiled
        return loop.previous_end or end

    def opened_once(self, running, count, place):
        """So many loaders were opened for one item each, the last one here: told if that is in the loop's file."""
        told = {"count": count, "line": _line_in(running, place)}
        self._probe.recorder.detail(running.span, {"opened_once": told})

    def same_loss(self, running, same):
        """Gradients of one loss were taken several times: see `SameLoss`."""
        line = _line_in(running, same.place)
        told = {"losses": same.losses, "calls": same.calls, "more_ns": same.more_ns, "line": line}
        self._probe.recorder.detail(running.span, {"same_loss": told})

    def padding(self, running, facts):
        """Its batches were looked at: see `Padding.facts`."""
        self._probe.recorder.detail(running.span, {"padding": facts})

    def _at_end(self, running):
        """What its engine has to say of a training that is over."""
        for name, told in running.engine.after_training().items():
            if told is not None:
                place = told.pop("place", None)
                if place is not None:
                    told["line"] = _line_in(running, place)
                self._probe.recorder.detail(running.span, {name: told})

    def close(self, running, end):
        """The loop is over."""
        probe = self._probe
        if running.engine is not None:
            self._tell_end(running)
        probe.windows.closed(running.loop)
        merged = running.loop.take_merged()
        if merged is not None:
            probe.recorder.step(loops.pack(merged), merged[6])
        probe.recorder.end(running.span, end)


def _line_in(running, place):
    """The line of a place in the file of a loop; None: it is in another one."""
    return place[1] if place[0] == running.file else None
