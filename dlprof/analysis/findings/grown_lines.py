"""Of two runs: the lines of the script that took longer in the steps of one of them, or that it alone has.

What a line takes contains what it calls. Of lines that call each other the inner one is told: in which the stacks
stand, and not only pass through. The lines of both runs are joined as in a comparison (`line_pairs`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlprof.analysis import line_pairs, lines
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.line_pairs import LinePair
from dlprof.schema.tree_paths import Tree
from dlprof.store.run import Run
from dlprof.units import duration

_LEAST_NS = 50_000_000
_LEAST_SHARE = 0.2
"""Of a line that takes less than this share longer it is noise, as of the parts of a run."""
_ERRORS = 2.0
"""Standard errors that a difference of times from samples must have."""
_MOSTLY = 0.5
"""Share of the stacks with a line in which it must be the innermost of the user's, to be no mere caller."""
_STEPS = 0.5
"""Of the steps: a line without stacks that ran as often is of the loop."""
_CALLED = re.compile(r"\b(\w+)\s*\(")


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
    """Such lines of the steps of training, the one that grew most first; none where this is not about two runs."""
    if case.against is None or case.other is None:
        return ()
    pairs = line_pairs.join(case.against.a.runs, case.against.b.runs)
    stood, defined = _stood(case), case.code.defined
    usual = case.against.common * _ratio(case)
    found = []
    for pair in pairs:
        line = pair.file, pair.line
        grown = _grown(case, pair, usual) if pair.a_ns and _is_of_steps(case, pair, stood) else None
        if grown is not None and not _only_calls(pair, stood.get(line), defined) and not case.code.is_import(*line):
            found.append(grown)
    return tuple(sorted(found, key=lambda one: (-one.more_ns, one.line)))


def _grown(case: Case, pair: LinePair, usual: float) -> GrownLine | None:
    """The line as one that takes longer beyond noise; None: it does not.

    Args:
        case: The run, and the other one.
        pair: The line in both.
        usual: How many times the other run's time it would take if nothing but the machine and the number of steps
            differed.
    """
    other_ns = (pair.b_ns or 0) * usual
    more = (pair.a_ns or 0) - other_ns
    if more < max(_LEAST_NS, _LEAST_SHARE * (pair.a_ns or 0)):
        return None
    mine = _error_ns(case.run, (pair.file, pair.line))
    theirs = usual * _error_ns(case.other.run, (pair.b_file, pair.b_line)) if case.other is not None else 0.0
    if more < _ERRORS * math.hypot(mine, theirs):
        return None
    return GrownLine((pair.file, pair.line), int(more), pair.b_file is None, mine + theirs > 0)


def _error_ns(run: Run, place: tuple[str | None, int | None]) -> float:
    """Standard error of what a run says of a line (ns): 0 where its time was counted, or it has no such line."""
    rows = (row for row in run.rows("lines") if (row["file"], row["line"]) == place)
    errors = (lines.standard_error_ns(row["time_ns"] or 0, row["samples"]) or 0 for row in rows)
    return math.hypot(*errors)


def _ratio(case: Case) -> float:
    """How many times the steps of the other run this one has; 1 where that is not known."""
    mine, other = case.loop, case.other.loop if case.other is not None else None
    return mine.count / other.count if mine is not None and other is not None and mine.count and other.count else 1.0


@dataclass(frozen=True)
class _Stood:
    """How long stacks in the steps had a line among the user's frames, and had it as the innermost of these (ns)."""

    within_ns: int = 0
    innermost_ns: int = 0


def _stood(case: Case) -> Mapping[SourceLine, _Stood]:
    times: dict[SourceLine, _Stood] = {}
    for sample in case.code.samples:
        if not sample.main or not Tree.FIT_STEPS.holds(sample.phase):
            continue
        own = [(frame.file, frame.line) for frame in sample.frames if frame.file in case.code.user_files]
        for line in dict.fromkeys(own):
            before = times.get(line, _Stood())
            ns = sample.dur_ns
            times[line] = _Stood(before.within_ns + ns, before.innermost_ns + ns * (line == own[0]))
    return times


def _is_of_steps(case: Case, pair: LinePair, stood: Mapping[SourceLine, _Stood]) -> bool:
    """Whether stacks had it in the steps; where none did, whether it ran as often as a line of a loop does."""
    if (pair.file, pair.line) in stood:
        return True
    steps = case.loop.count if case.loop is not None else 0
    return bool(steps and (pair.a_hits or 0) >= _STEPS * steps)


def _only_calls(pair: LinePair, stood: _Stood | None, defined: frozenset[str]) -> bool:
    """Whether the time of a line is that of other lines of the script's, which it calls."""
    if stood is not None:
        return stood.innermost_ns < _MOSTLY * stood.within_ns
    return any(name in defined for name in _CALLED.findall(pair.source))


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
