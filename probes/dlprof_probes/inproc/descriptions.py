"""What is told, once, of the models that are trained and of the data that loops are given."""

from dlprof_probes import wire
from dlprof_probes.inproc import facts, model_memory
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.padding import Padding
from dlprof_probes.inproc.retold import Retold

_APART = 200
"""Counts of memory are so many times their own duration apart."""
_PADDING_AT_MOST = 8
"""Loops in whose data padding is looked for."""
_MEANS_AT_MOST = 64
"""Loops for which means of the data's first rows are told: a comparison asks for those of the first ones."""


class Descriptions(object):
    """Those of a process. Each method that is given what is the program's own is guarded, and does not raise.

    Args:
        probe: `Probe`; its `describe_model` is set by the hooks of Keras.

    Attributes:
        model: Function (span, model) that tells in a span what a model is, and gives whether it is one.
        training: Function (span, model) that tells how a model is about to be trained.
        memory: Function (span) that tells what the engines' allocators count where a training ends.
    """

    def __init__(self, probe):
        self._probe = probe
        self._recorder = probe.recorder
        self._trained = False
        self._data_told = 0
        self._memory_again = 0
        self._models = set()
        self._retold = Retold(probe.own_loops.token)
        self.model = probe.guard(self._model, False, goes_on=True)
        self.training = probe.guard(self._training)
        self.memory = probe.guard(self._memory)
        self._holdings = probe.guard(self._told_holdings, goes_on=True)

    # -- models ------------------------------------------------------------------------------------------

    def _model(self, span, model):
        told = self._retold.span_of(model)
        if told is not None:
            self._recorder.known_detail(span, ("as", told), lambda: {"as": {"model": told}})
            return True
        found = self._probe.describe_model(model)
        if not found:
            return False
        self._recorder.detail(span, {"model": found})
        self._retold.note(model, span)
        return True

    def _training(self, span, model):
        """What that takes is our own time."""
        start = now()
        own = self._recorder.begin(wire.SpanKind.DLPROF, "facts of the training", None, start)
        self._recorder.detail(span, {"training": facts.of_training(model, self._probe.engines, not self._trained)})
        self._trained = True
        over = now()
        self._recorder.end(own, over)
        self._recorder.own_took(over - start)

    def _memory(self, span):
        """What that takes is our own time; where very many arrays live it is long: then not after each training."""
        start = now()
        if start < self._memory_again:
            return
        counted = facts.of_memory(self._probe.engines)
        if counted:
            self._recorder.detail(span, {"engine_memory": counted})
            self._recorder.complete(wire.SpanKind.DLPROF, "counts of the engine's memory", start, now())
        self._memory_again = now() + _APART * (now() - start)

    def held_by_model(self, loop, model):
        """Tell what a model of Keras holds: now, and again when the first step of a loop is over."""
        tell, span = self._holdings, loop.span
        tell(span, model, model_memory.of_keras, (model,), True)
        loop.on_first = lambda: tell(span, model, self._with_slots, (model,))

    def _with_slots(self, model):
        """What a model holds, with the slots that the engines keep for themselves."""
        kept = [slot for engine, _ in self._probe.engines.loaded() for slot in engine.slots_of(model)]
        return model_memory.of_keras(model, kept)

    def held_by_optimizer(self, span, optimizer, read):
        """Tell, once, what an optimiser of a loop of the script's own holds: `read()` gives the facts, or None."""
        self._holdings(span, optimizer, read, (), True)

    def _told_holdings(self, span, owner, read, args, once=False):
        number = self._probe.own_loops.token(owner)
        if number in self._models:
            if once:
                return
        elif len(self._models) >= model_memory.MOST_MODELS:
            text = "Of more than %d models it is not told what they hold in memory."
            self._recorder.note_once("models-left-out", text % model_memory.MOST_MODELS, "info")
            return
        start = now()
        told = read(*args)
        if told is None:
            return
        self._models.add(number)
        self._recorder.model(dict(told, model=number, loop=span))
        self._recorder.complete(wire.SpanKind.DLPROF, "facts of the model's memory", start, now())
        self._recorder.flush()  # what kills the process for want of memory comes now, if it comes

    # -- data: whoever calls these guards them ------------------------------------------------------------

    def data(self, loop, arrays):
        """Tell what a loop is given."""
        if loop.data_seen:
            return
        loop.data_seen = True
        self._data_told += 1
        if self._data_told > _MEANS_AT_MOST:
            without_means = lambda: {"data": facts.of_data(arrays, means=False)}  # noqa: E731
            self._recorder.known_detail(loop.span, facts.data_key(arrays), without_means)
            return
        self._recorder.detail(loop.span, {"data": facts.of_data(arrays)})
        if self._data_told <= _PADDING_AT_MOST:
            self._see_padding(loop, arrays)
            self._see_one_hot(loop, arrays)

    def batch_made(self, loop, batch):
        """A loader of Keras has made a batch on the thread of a loop. Hot."""
        if loop is not None and loop.one_hot.left:
            self._see_one_hot(loop, batch)

    def batch_given(self, loop, batch):
        """A batch of a generator's or of the script's own is passed to a loop."""
        if loop is None or loop.passed is None:
            return
        told, goes_on = loop.passed.given(batch, None if loop.epoch == wire.NONE else loop.epoch)
        if told is not None:
            self._recorder.detail(loop.span, told)
        if not goes_on:
            loop.passed = None

    def _see_padding(self, loop, arrays):
        padding, start = Padding(), now()
        padding.see_all(arrays)
        told = padding.facts()
        if told is not None:
            self._recorder.detail(loop.span, {"padding": told})
            self._recorder.complete(wire.SpanKind.DLPROF, "look for padding", start, now())

    def _see_one_hot(self, loop, batch):
        start = now()
        if loop.one_hot.see(batch):
            self._recorder.detail(loop.span, {"one_hot": loop.one_hot.facts()})
            self._recorder.complete(wire.SpanKind.DLPROF, "look for one-hot arrays", start, now())
