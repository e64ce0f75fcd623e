"""The time in each phase so far, of a run that goes on.

Phases are cut as in the report (`dlprof.analysis.phases`), but record by record; the two agree to about a millisecond.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from dlprof.analysis import phases
from dlprof.live.records import Span, Step
from dlprof.schema.vocabulary import PHASE_OF_LOOP, Loop, Phase, SpanKind

_STRETCHES = 256


class PhaseClock:
    """Moved on by begin and end of spans on the main thread; all times are in ns.

    Args:
        origin_ns: When the process was started.
    """

    def __init__(self, origin_ns: int) -> None:
        self.current = Phase.STARTUP
        self.since_ns = origin_ns
        """When the current phase was entered."""
        self._outside = Phase.STARTUP
        self._cursor_ns = origin_ns
        self._totals: dict[Phase, int] = {}
        self._stack: list[Span] = []
        self._had_epoch = False
        self._steps_since: deque[tuple[int, int]] = deque(maxlen=_STRETCHES)
        """Stretches of fit.steps since the last step: the first call of a step function is a compilation."""

    def outside(self, phase: Phase, time_ns: int) -> None:
        """From `time_ns` on this is the phase while no span is open."""
        self._advance(time_ns)
        self._outside = phase
        self._choose(time_ns)

    def begin(self, span: Span, time_ns: int) -> None:
        """A span begins."""
        self._advance(time_ns)
        if not self._stack:
            self._had_epoch = False
        self._had_epoch = self._had_epoch or span.kind == SpanKind.EPOCH
        self._stack.append(span)
        self._choose(time_ns)

    def end(self, number: int, time_ns: int) -> None:
        """A span ends, and with it what is open inside it."""
        depth = next((depth for depth, span in enumerate(self._stack) if span.number == number), None)
        if depth is not None:
            self._advance(time_ns)
            del self._stack[depth:]
            self._choose(time_ns)

    def step(self, step: Step, kind: str, loop: Loop) -> None:
        """A step is over, of a loop in a span of that kind: its parts belong to phases of their own."""
        self._advance(step.end_ns)
        around = self.current
        if kind == SpanKind.FIT and around is Phase.FIT_STEPS:
            if step.first and step.call_ns:
                begin_ns = step.begin_ns + step.call_offset_ns
                compiling_ns = self._steps_between(begin_ns, begin_ns + step.call_ns)
                self._move(Phase.FIT_STEPS, Phase.FIT_GRAPH_COMPILE, compiling_ns)
            self._move(Phase.FIT_STEPS, Phase.FIT_INPUT, step.input_ns)
            self._move(Phase.FIT_STEPS, Phase.FIT_WAIT, step.wait_ns)
            self._move(Phase.FIT_STEPS, Phase.FIT_CALLBACKS, step.callbacks_ns)
        elif kind == SpanKind.ON_BATCH and around is Phase.SCRIPT:
            self._move(Phase.SCRIPT, PHASE_OF_LOOP[loop], step.end_ns - step.begin_ns)
        self._steps_since.clear()

    def totals(self, now_ns: int) -> dict[Phase, int]:
        """Time in each phase (ns), that since the last record counted for the current one."""
        totals = dict(self._totals)
        totals[self.current] = totals.get(self.current, 0) + max(0, now_ns - self._cursor_ns)
        return {phase: ns for phase, ns in totals.items() if ns > 0}

    def open(self) -> Sequence[Span]:
        """The open spans, outermost first."""
        return self._stack

    def _steps_between(self, begin_ns: int, end_ns: int) -> int:
        """Time between two moments that went to fit.steps."""
        return sum(max(0, min(end_ns, to) - max(begin_ns, start)) for start, to in self._steps_since)

    def _move(self, source: Phase, target: Phase, ns: int) -> None:
        ns = max(0, min(ns, self._totals.get(source, 0)))
        self._totals[source] = self._totals.get(source, 0) - ns
        self._totals[target] = self._totals.get(target, 0) + ns

    def _advance(self, to_ns: int) -> None:
        if to_ns <= self._cursor_ns:
            return
        if self.current is Phase.FIT_STEPS:
            self._steps_since.append((self._cursor_ns, to_ns))
        self._totals[self.current] = self._totals.get(self.current, 0) + to_ns - self._cursor_ns
        self._cursor_ns = to_ns

    def _choose(self, time_ns: int) -> None:
        kinds = [span.kind for span in self._stack]
        phase = Phase(phases.leaf(kinds, self._had_epoch)) if kinds else self._outside
        if phase is not self.current:
            self.current, self.since_ns = phase, time_ns
