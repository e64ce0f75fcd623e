"""Where the marks of a script without Keras go (`dlprof_probes.mark`): spans, loops, steps."""

from sys import _getframe

from dlprof_probes import mark, wire
from dlprof_probes.inproc import loops
from dlprof_probes.inproc.clock import now

_LOOPS = ("fit", "evaluate", "predict")


class Marks(object):
    """Turns marks into what the hooks of Keras record.

    Args:
        probe: `Probe`.
        engine: Name of the engine, where it was asked for; None: the first known one that is loaded (`Engines`).
    """

    def __init__(self, probe, engine=None):
        self._probe = probe
        self._asked = engine
        self._facts = None
        self._epoch_span = None
        self._fits = set()
        self._begin_loop = probe.guard(self._open_loop, goes_on=True)
        self._end_loop = probe.guard(self._close_loop, goes_on=True)
        self.step_begin = probe.guard(self._step_begin, goes_on=True)
        self.step_end = probe.guard(self._step_end, goes_on=True)
        self.metrics = probe.guard(self._metrics, goes_on=True)
        self.model = probe.guard(self._model, goes_on=True)
        self._use_engine = probe.guard(self._engine, goes_on=True)

    def install(self):
        """Begin to take marks."""
        mark.install(self)
        self._probe.patches.on_undo(lambda: mark.install(None))

    def phase(self, name, facts):
        """A context manager for a phase."""
        if not isinstance(name, str) or (name not in mark.PHASES and name not in mark.IN_FIT):
            shown = name if isinstance(name, str) else "of type " + type(name).__name__
            text = "There is no phase %s to mark; there are: %s." % (shown, ", ".join(mark.PHASES + mark.IN_FIT[:-1]))
            self._probe.recorder.note("mark-unknown", text)
            return mark._NOTHING
        if name in _LOOPS:
            return _Context(lambda frame: self._begin_loop(name, facts, frame), self._end_loop)
        recorder = self._probe.recorder
        begin = self._probe.guard(lambda frame: recorder.begin(name, name, frame))
        return _Context(begin, self._probe.guard(recorder.end))

    def _open_loop(self, name, facts, frame):
        self._use_engine()
        probe = self._probe
        nested = probe.current_loop() is not None
        span = probe.recorder.begin(name, name, frame)
        known = dict((key, value) for key, value in facts.items() if isinstance(value, int))
        known["how"] = "marks"
        if self._facts:
            known["model"] = self._facts
        probe.recorder.detail(span, known)
        loop = probe.loops.open(span, name)
        if name == wire.SpanKind.FIT:
            self._fits.add(span)
        if not nested:
            self._planned(loop, facts)
        return span, loop

    def _planned(self, loop, facts):
        """How many steps the loop will have, where the script says so."""
        samples, batch, epochs = facts.get("samples"), facts.get("batch_size"), facts.get("epochs", 1)
        if all(isinstance(value, int) and value > 0 for value in (samples, batch, epochs)):
            self._probe.windows.planned(loop, epochs * -(-samples // batch))

    def _close_loop(self, token):
        span, loop = token
        self._end_epoch()
        self._probe.loops.close(loop)
        self._probe.recorder.end(span)

    def epoch(self, number):
        """A context manager for an epoch."""
        begin = self._probe.guard(lambda _frame: self._begin_epoch(number))
        return _Context(begin, self._probe.guard(lambda _token: self._end_epoch()))

    def _begin_epoch(self, number):
        loop = self._probe.current_loop()
        if loop is None:
            return None
        self._end_epoch()
        known = loops.known_epoch(int(number))
        self._epoch_span = self._probe.recorder.begin(wire.SpanKind.EPOCH, str(known))
        loop.start_epoch(known)
        return self._epoch_span

    def _end_epoch(self):
        span, self._epoch_span = self._epoch_span, None
        if span is not None:
            self._probe.recorder.end(span)

    def step(self):
        """A context manager for a step."""
        return _Context(lambda _frame: self.step_begin(), lambda _token: self.step_end())

    def steps(self, batches):
        """The batches; a step lasts from where one is handed out to where the next is asked for."""
        for batch in batches:
            self.step_begin()
            try:
                yield batch
            finally:
                self.step_end()

    def _step_begin(self):
        loop = self._probe.current_loop()
        if loop is None:
            return None
        if self._epoch_span is None and loop.span in self._fits:
            self._begin_epoch(max(0, loop.epoch + 1))
        loop.begin = now()
        return loop

    def _step_end(self):
        loop = self._probe.current_loop()
        if loop is not None and loop.begin:
            loop.finish((None, loop.step_index), now())

    def _metrics(self, values):
        loop = self._probe.current_loop()
        if loop is not None:
            self._probe.recorder.metrics(loop.span, loop.epoch, wire.NONE, self._numbers(values))

    def _numbers(self, values):
        found = []
        for name, value in values.items():
            try:
                found.append((str(name), float(value)))
            except (TypeError, ValueError, OverflowError):
                text = "The metric %s was passed over: it is no number, but a %s." % (name, type(value).__name__)
                self._probe.recorder.note_once("mark-metric " + str(name), text)
        return found

    def _model(self, module, optimizer):
        self._facts = {"layers": self._layers(module), "models": []}
        if optimizer is not None:
            name = optimizer if isinstance(optimizer, str) else type(optimizer).__name__
            self._facts["optimizer"] = {"name": name, "class": name}

    def _layers(self, module):
        if isinstance(module, (list, tuple)):
            return [{"name": str(name), "class": ""} for name in module]
        for engine, _ in self._probe.engines.loaded():
            layers = self._probe.guard(engine.named_layers)(module)
            if layers is not None:
                return layers
        names = getattr(module, "named_modules", None)
        return [{"name": n, "class": type(m).__name__} for n, m in names() if n] if callable(names) else []

    def _engine(self):
        """Take the tracer of the engine that is loaded, unless that of Keras was."""
        windows, engines = self._probe.windows, self._probe.engines
        if windows.folder is None or windows.is_set:
            return
        engine = engines.find(self._asked) if self._asked else next((one for one, _ in engines.loaded()), None)
        if engine is not None:
            self._probe.guard(engine.alone)()
        elif self._asked:
            windows.use(self._asked)


class _Context(object):
    """A context manager of two functions: `begin(frame)` gives what `end` gets; None: nothing has begun."""

    def __init__(self, begin, end):
        self._begin = begin
        self._end = end
        self._token = None

    def __enter__(self):
        self._token = self._begin(_getframe(1))
        return self

    def __exit__(self, *_):
        if self._token is not None:
            self._end(self._token)
        return False
