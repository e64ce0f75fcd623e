"""What no finding explains: where it is, and what was seen there. A name for it is better than silence."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from dlprof.analysis import loops
from dlprof.analysis.findings import doing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.findings.rest import LoopLine, Rest, Stood, Worked
from dlprof.analysis.loops import FoundBy
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import IN_PARTS, OWN_PATHS, Tree, TreePath
from dlprof.schema.vocabulary import LineSource, StepPart

_MADE_UP = re.compile("<(?!python>)")
"""Begins what stands for a file where there is none; Python's own are `<python>/...`."""
_MOST = 3
_NOT_THE_SCRIPT = (Tree.STARTUP, Tree.IMPORT, Tree.TEARDOWN)
"""The script has not begun, only asks for modules, or is over: the last sample of its stacks may reach into that."""
_LEAST = 0.05
"""Share of the wall time that a place must have left to be named; the largest is, whatever it has."""
_WORTH_A_WORD = 0.1
"""Share of the wall time from which on a line of the training is told."""
_WORTH_A_LINE = 0.2
"""Share of a place's samples below which its hottest line says little of it."""


def of_case(case: Case, left: Mapping[TreePath, int]) -> tuple[Rest, ...]:
    """The places with most time left, the largest first.

    Args:
        case: The run.
        left: Leaf to time that no finding has taken (ns).
    """
    found = sorted((ns, leaf) for leaf, ns in left.items() if ns > 0 and leaf not in OWN_PATHS)[::-1]
    told = [one for number, one in enumerate(found[:_MOST]) if not number or one[0] >= _LEAST * case.whole_ns]
    return tuple(Rest(leaf, ns, ns / case.whole_ns, _stood(case, leaf), _worked(case, leaf)) for ns, leaf in told)


def loop_lines(case: Case, named: Collection[SourceLine]) -> tuple[LoopLine, ...]:
    """Lines of the user's under which a tenth of the wall time and more was spent in the training, most time first.

    That is no blame: a line may do what has to be done. But who looks for the time finds it there. Where Keras runs the
    epochs, what the line that calls it has says no more than the phases do.

    Args:
        case: The run.
        named: Lines that findings name.
    """
    inside = [sample for sample in case.code.samples if sample.main and Tree.FIT.holds(sample.phase)]
    seen = _time(inside)
    if not seen:
        return ()
    # Samples are thinned where they cost too much: their time is a share of the phases'.
    scale = case.own(Tree.FIT) / seen
    lines: dict[SourceLine, list[Sample]] = {}
    for sample in inside:
        frame = case.code.user_frame(sample)
        if frame is not None and not case.code.is_import(frame.file, frame.line):
            lines.setdefault((frame.file, frame.line), []).append(sample)
    hits, told = _hits(case), {*named, *_calls_of_fit(case)}
    found = []
    for line, samples in lines.items():
        ns = int(_time(samples) * scale)
        if line not in told and ns >= _WORTH_A_WORD * case.whole_ns:
            found.append(LoopLine(*line, ns, ns / case.whole_ns, hits.get(line), _longest(case, samples)))
    return tuple(sorted(found, key=lambda one: -one.ns)[:_MOST])


def _calls_of_fit(case: Case) -> set[SourceLine]:
    """Lines that call what runs epochs in Keras."""
    found = loops.of_run(case.run)
    return {
        (loop.file, loop.line)
        for loop in found
        if loop.how is FoundBy.KERAS and loop.epochs and loop.file and loop.line
    }


def _hits(case: Case) -> dict[SourceLine, int]:
    """How often each line ran, as far as all of that was counted: numbers that were scaled may be far off."""
    hits: dict[SourceLine, int] = {}
    for row in case.run.rows("lines"):
        if row["hits"] and row["how"] in (None, LineSource.EXACT):
            hits[row["file"], row["line"]] = hits.get((row["file"], row["line"]), 0) + row["hits"]
    return hits


def _worked(case: Case, leaf: TreePath) -> Worked | None:
    """The layer and operator with most time among the kernels of a place."""
    mine = [one for one in case.tree.layers if case.steps is not None and case.tree.kernels_leaf(one.category) == leaf]
    if not mine:
        return None
    most = max(mine, key=lambda one: one.ns)
    return Worked(most.layer, most.direction, most.op, most.ns / max(1, sum(one.ns for one in mine)))


def _stood(case: Case, leaf: TreePath) -> Stood | None:
    place = next((steps for steps in IN_PARTS if steps.holds(leaf)), leaf)
    if leaf in _NOT_THE_SCRIPT or (place != leaf and (place / StepPart.KERNELS).holds(leaf)):
        return None
    inside = [sample for sample in case.code.samples if sample.main and place.holds(sample.phase)]
    whole = sum(sample.dur_ns for sample in inside)
    lines: dict[tuple[str, int], list[Sample]] = {}
    for sample in inside:
        frame = case.code.user_frame(sample)
        if frame is not None:
            lines.setdefault((frame.file, frame.line), []).append(sample)
    line = max(lines, key=lambda place: _time(lines[place]), default=None)
    share = _time(lines[line]) / whole if line is not None else 0.0
    if line is None or share < _WORTH_A_LINE:
        return _of_libraries(case, inside)
    function, file = _innermost(lines[line])
    return Stood(*line, share, function, file, _longest(case, lines[line]))


def _innermost(samples: list[Sample]) -> tuple[str, str]:
    """The innermost function that stood longest, and its file; of code without a file, as NumPy makes, its caller."""
    times: dict[tuple[str, str], int] = {}
    for sample in samples:
        frame = next((one for one in sample.frames if not _MADE_UP.match(one.file)), sample.frames[0])
        times[frame.function, frame.file] = times.get((frame.function, frame.file), 0) + sample.dur_ns
    return max(times, key=lambda place: times[place])


def _of_libraries(case: Case, inside: list[Sample]) -> Stood | None:
    """The innermost line of any code that stood longest; None: none stood for long."""
    lines: dict[tuple[str, int], list[Sample]] = {}
    for sample in inside:
        frame = sample.frames[0]
        lines.setdefault((frame.file, frame.line), []).append(sample)
    line = max(lines, key=lambda place: _time(lines[place]), default=None)
    share = _time(lines[line]) / _time(inside) if line is not None else 0.0
    if line is None or share < _WORTH_A_LINE:
        return None
    frame = lines[line][0].frames[0]
    return Stood(*line, share, frame.function, frame.file, _longest(case, lines[line]))


def _longest(case: Case, samples: list[Sample]) -> str | None:
    """What these stacks tell for more than half of their time."""
    times: dict[str | None, int] = {}
    for sample in samples:
        told = doing.of_stack(sample.frames, case.code.user_files, case.engine)
        times[told] = times.get(told, 0) + sample.dur_ns
    told = max(times, key=lambda name: times[name])
    return told if 2 * times[told] > sum(times.values()) else None


def _time(samples: list[Sample]) -> int:
    return sum(sample.dur_ns for sample in samples)
