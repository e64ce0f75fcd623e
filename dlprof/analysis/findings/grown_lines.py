"""Of two runs: the lines of the script that took longer in the steps of one of them, or that it alone has.

What a line takes contains what it calls. Of lines that call each other the inner one is told: in which the stacks
stand, and not only pass through. The lines of both runs are joined as in a comparison (`line_pairs`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dlprof.analysis import line_pairs
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.line_pairs import LinePair
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.units import duration

_LEAST_NS = 50_000_000
_LEAST_SHARE = 0.2
"""Of a line that takes less than this share longer it is noise, as of the parts of a run."""
_MOSTLY = 0.5
"""Share of the stacks with a line in which it must be the innermost of the user's, to be no mere caller."""
_STEPS = 0.5
"""Of the steps: a line without stacks that ran as often is of the loop."""
_CALLED = re.compile(r"\b(\w+)\s*\(")
_Function = tuple[str, str]
"""File and name."""


@dataclass(frozen=True)
class GrownLine:
    """A line that takes longer than in the other run.

    Attributes:
        line: Where it is.
        more_ns: By how much, in steps as many as this run has (ns).
        is_new: Whether the other run has no such line.
        is_sampled: Whether that is by samples of the stacks, on either side.
    """

    line: SourceLine
    more_ns: int
    is_new: bool
    is_sampled: bool


def of_steps(case: Case) -> tuple[GrownLine, ...]:
    """Such lines of the steps of training, the one that grew most first; none where this is not about two runs.

    A line that was edited is one that came and one that went: what it takes more is what is told.
    """
    if case.against is None or case.other is None:
        return ()
    pairs = line_pairs.join(case.against.a.runs, case.against.b.runs)
    mine, theirs = _InSteps(case), _InSteps(case.other)
    usual = case.against.common * _ratio(case)
    grown, gone = [], Counter[_Function]()
    for pair in pairs:
        if pair.a_ns is not None and mine.has(pair.file, pair.line, pair.source, pair.a_hits):
            grown.append((pair, (pair.a_ns or 0) - (pair.b_ns or 0) * usual))
        elif pair.a_ns is None and theirs.has(pair.b_file, pair.b_line, pair.source, pair.b_hits):
            gone[pair.file, pair.function] += int((pair.b_ns or 0) * usual)
    found = (_grown(pair, more) for pair, more in _net(grown, gone))
    return tuple(sorted((one for one in found if one is not None), key=lambda one: (-one.more_ns, one.line)))


def _net(grown: Sequence[tuple[LinePair, float]], gone: Counter[_Function]) -> list[tuple[LinePair, float]]:
    """Lines with what they take more; of new ones without what lines took that went: of their function, then of all.

    Args:
        grown: Lines of this run, with that (ns).
        gone: What lines that only the other run has took there, by function (ns); used up.
    """
    left = []
    for pair, more in sorted(grown, key=lambda one: -one[1]):
        less = min(more, gone[pair.file, pair.function]) if pair.b_file is None and more > 0 else 0.0
        gone[pair.file, pair.function] -= int(less)
        left.append((pair, more - less))
    new_ns = sum(more for pair, more in left if pair.b_file is None and more > 0)
    kept = max(0.0, 1 - gone.total() / new_ns) if new_ns else 1.0
    return [(pair, more * kept if pair.b_file is None else more) for pair, more in left]


def _grown(pair: LinePair, more: float) -> GrownLine | None:
    """The line as one that takes so much longer (ns); None: that is noise."""
    error_ns = (pair.ci_ns[1] - pair.ci_ns[0]) / 2 if pair.ci_ns is not None else 0.0
    if more < max(_LEAST_NS, _LEAST_SHARE * (pair.a_ns or 0), error_ns):
        return None
    return GrownLine((pair.file, pair.line), int(more), pair.b_file is None, pair.ci_ns is not None)


def _ratio(case: Case) -> float:
    """How many times the steps of the other run this one has; 1 where that is not known."""
    mine, other = case.loop, case.other.loop if case.other is not None else None
    return mine.count / other.count if mine is not None and other is not None and mine.count and other.count else 1.0


@dataclass(frozen=True)
class _Stood:
    """How long stacks in the steps had a line among the user's frames, and had it as the innermost of these (ns)."""

    within_ns: int = 0
    innermost_ns: int = 0


class _InSteps:
    """Lines of a run that took time of their own in its steps of training."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._stood: dict[SourceLine, _Stood] = {}
        self._compiled: set[SourceLine] = set()
        for sample in case.code.samples:
            if sample.main and Tree.FIT_STEPS.holds(sample.phase):
                self._add(sample)

    def _add(self, sample: Sample) -> None:
        own = [(frame.file, frame.line) for frame in sample.frames if frame.file in self._case.code.user_files]
        for line in dict.fromkeys(own):
            before, ns = self._stood.get(line, _Stood()), sample.dur_ns
            self._stood[line] = _Stood(before.within_ns + ns, before.innermost_ns + ns * (line == own[0]))
        if own and self._case.code.calls_compiled(sample):
            self._compiled.add(own[0])

    def has(self, file: str | None, line: int | None, source: str, hits: int | None) -> bool:
        """Whether a line is one of them: one that only calls others, a compiled function or an import is none."""
        if file is None or line is None or self._case.code.is_import(file, line) or (file, line) in self._compiled:
            return False
        stood = self._stood.get((file, line))
        if stood is not None:
            return stood.innermost_ns >= _MOSTLY * stood.within_ns
        steps = self._case.loop.count if self._case.loop is not None else 0
        calls = any(name in self._case.code.defined for name in _CALLED.findall(source))
        return bool(steps and (hits or 0) >= _STEPS * steps) and not calls


def told(case: Case, grown: Sequence[GrownLine]) -> str:
    """The lines in words: `line 68, which b has not (about 745 ms more), and line 6 of data.py (90 ms more)`."""
    label = case.against.b.label if case.against is not None else "the other run"
    texts = [_text(one, label, grown[0].line[0]) for one in grown]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])}, and {texts[-1]}"


def _text(one: GrownLine, label: str, usual_file: str) -> str:
    file, line = one.line
    of_file = f" of {file}" * (file != usual_file)
    new = f", which {label} has not" * one.is_new
    return f"line {line}{of_file}{new} ({'about ' * one.is_sampled}{duration(one.more_ns)} more)"
