"""Lines of the script's own loop that run very many times in each step: for each row, weight or time step.

What each of them starts is small, whatever it is: an operation, a wait for a value, a function of NumPy. Once for all
rows it would hardly take longer than for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.analysis import columns, loops
from dlprof.analysis.findings import chores, doing, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, SourceLine
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.analysis.scaled_hits import estimate, significant
from dlprof.schema.tree_paths import EDGES, Tree, TreePath
from dlprof.schema.vocabulary import Basis, Direction, Ground, LineSource, Loop, Phase, StepPart

_TITLE = Title("A line ran very many times in each step", "a line that runs many times in each step")
_MANY = 12.0
"""Hits a step from which on a line goes through something piece by piece."""
_SHARE_OF_STEPS = 0.20
_SHARE_OF_WORK = 0.15
_GUESS = 0.5
"""Hits that were counted in windows may be as far off."""
_SEEN = 5
"""Samples of a line from which on they tell how much of its time was in the steps."""
_MOSTLY_INSIDE = 0.9
"""Share of its time in the steps from which on all of a line's hits are taken to be there."""
_LINES = Query(
    "lines by their hits", "SELECT file, line, hits, time_ns, source FROM lines ORDER BY time_ns DESC LIMIT 8"
)
_NO_KERNELS = (StepPart.HOST_PYTHON, StepPart.DISPATCH, StepPart.IDLE, StepPart.SYNC, EDGES)


@dataclass(frozen=True)
class _Many:
    """Lines of one function that run many times a step.

    Attributes:
        line: The one that stood longest.
        a_step: How often it ran in a step.
        is_shared: Whether it also ran outside of the steps: how often in them is by the time that it took there.
        samples: Stacks whose innermost line of the user's is one of the function's.
    """

    line: SourceLine
    a_step: float
    is_shared: bool
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class _Where:
    """Loops of one kind.

    Attributes:
        loop: Their kind.
        path: Their time, in the tree.
        phase: The same, as a phase.
        steps: What is called a step of theirs.
    """

    loop: Loop
    path: TreePath
    phase: Phase
    steps: str


_TRAINING = _Where(Loop.TRAIN, Tree.FIT_STEPS, Phase.FIT_STEPS, "step of the script's own loop")
_OTHERS = (
    _Where(Loop.TEST, Tree.EVALUATE, Phase.EVALUATE, "step of the script's own evaluation"),
    _Where(Loop.PREDICT, Tree.PREDICT, Phase.PREDICT, "step of the script's own predictions"),
)


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, for the function whose lines took most of the steps of training."""
    if not loops.are_all_of_keras(case.run) and case.code.samples:
        yield from _of(case, _TRAINING)


@of_the_slower
def outside_of_training(case: Case) -> Iterator[Claim]:
    """The same in loops of the script's own that evaluate or predict."""
    own = [one for one in loops.of_run(case.run) if one.how is not loops.FoundBy.KERAS]
    for where in _OTHERS if own and case.code.samples else ():
        yield from _of(case, where)


def _of(case: Case, where: _Where) -> Iterator[Claim]:
    found = _most(case, where)
    if found is None:
        return
    inside = set(map(id, found.samples))
    back = _way_back(case, found) if where is _TRAINING else 0.0
    share = case.code.share([where.path], lambda sample: id(sample) in inside) + back
    parts = {}
    if where is _TRAINING and case.tree.unsplit is None:
        parts = case.takes(*(Tree.FIT_STEPS / part for part in _NO_KERNELS))
    parts = parts or case.takes(where.path)
    wanted = share * case.own(where.path)
    takes = {leaf: int(ns * min(1.0, wanted / max(1, sum(parts.values())))) for leaf, ns in parts.items()}
    if share < _SHARE_OF_STEPS or sum(takes.values()) < _SHARE_OF_WORK * case.work_ns:
        return
    yield Claim(
        Sentence(
            f"Line {found.line[1]} runs {_times(case, found)} times in each {where.steps}, and starts "
            f"something small each time{', and again on the way back' if back else ''}:"
        ),
        takes,
        [_LINES, queries.python_stood(where.phase)],
        f"{case.code.counting_note(found.line)}Do it once for all of them: one operation on whole arrays (a batch, "
        "stacked or joined), and one wait for a value a step. Where each needs the one before: a loop of the engine's "
        "own (scan, a recurrent layer), or a compiled function.",
        found.line,
        title=_TITLE,
        basis=Basis.ESTIMATED if back else Basis.MEASURED,
        support=case.code.support(
            [where.path],
            lambda sample: id(sample) in inside or (back > 0 and doing.goes_back(sample.frames, case.engine)),
            ground=Ground.REPEATED,
        ),
        fix=chores.for_weights(case)
        if chores.goes_through_weights(case, found.line)
        else chores.known_leaner(case, found.line),
    )


def _times(case: Case, found: _Many) -> str:
    """How often it ran in a step; about that, where it was counted in windows, or ran elsewhere, too."""
    if case.code.is_scaled(found.line):
        return f"about {estimate(found.a_step, case.code.hits(found.line) or 0):,}"
    if found.is_shared:
        return f"about {significant(found.a_step, 2):,}"
    return f"{found.a_step:,.0f}"


def _way_back(case: Case, found: _Many) -> float:
    """Share of the steps in which gradients go back through what the lines started; 0: none, or it cannot be told.

    Operators of layers are known by these, so of a loss or a penalty of the script's own the others are.
    """
    if case.tree.unsplit is not None or any(case.code.is_called_back(sample) for sample in found.samples):
        return 0.0
    rows = [row for row in case.kernels.operators.rows if row.direction == Direction.BACKWARD]
    theirs = sum(row.count for row in rows if row.layer is None)
    if theirs < _MANY * case.kernels.window_steps or all(row.layer is None for row in rows):
        return 0.0
    if not _may_start_operators(case, found):
        return 0.0
    going_back = case.code.share([Tree.FIT_STEPS], lambda sample: doing.goes_back(sample.frames, case.engine))
    return going_back * theirs / sum(row.count for row in rows)


def _may_start_operators(case: Case, found: _Many) -> bool:
    """Whether operators of no layer are as many as the runs of the line, or half as many, as hits may be a guess.

    A line that goes through numbers of NumPy starts none, and nothing goes back through it.
    """
    steps = case.loop.count if case.loop is not None else 0
    a_step = (case.code.hits(found.line) or 0) / steps if steps else found.a_step
    rows = (row for row in case.kernels.operators.rows if row.direction == Direction.FORWARD and row.layer is None)
    return sum(row.count for row in rows) >= _GUESS * a_step * case.kernels.window_steps


def _most(case: Case, where: _Where) -> _Many | None:
    """The function with most samples in lines that run many times a step; None: there is none."""
    rows = case.run.rows("lines")
    often, functions = often_run(case, where.loop), {(row["file"], row["line"]): row["function"] for row in rows}
    layers = len({row.layer for row in case.kernels.operators.rows} - {None}) if case.tree.unsplit is None else 0
    found: dict[tuple[str, str], list[tuple[SourceLine, Sample]]] = {}
    for sample in case.code.samples:
        frame = case.code.user_frame(sample)
        if frame is None or not sample.main or not where.path.holds(sample.phase):
            continue
        line = (frame.file, frame.line)
        if line in often and not (
            case.code.calls_compiled(sample) or _is_of_a_layer(case, sample, often[line], layers)
        ):
            found.setdefault((frame.file, functions[line]), []).append((line, sample))
    if not found:
        return None
    most = max(found.values(), key=lambda pairs: sum(sample.dur_ns for _, sample in pairs))
    stood: dict[SourceLine, int] = {}
    for line, sample in most:
        stood[line] = stood.get(line, 0) + sample.dur_ns
    line = max(stood, key=lambda one: stood[one])
    return _Many(line, often[line], line in _inside(case, where.loop), tuple(sample for _, sample in most))


def _is_of_a_layer(case: Case, sample: Sample, a_step: float, layers: int) -> bool:
    """Whether a line that a layer runs is run once for each of many: a network is as deep as it is.

    Args:
        case: The run.
        sample: A stack that the line is innermost in.
        a_step: How often the line runs in a step.
        layers: How many layers ran operators in kernel windows.
    """
    return a_step <= layers and case.code.is_called_back(sample)


def often_run(case: Case, loop: Loop = Loop.TRAIN) -> dict[SourceLine, float]:
    """Lines that ran many times for each step, but for those that make rows for a loader; hits a step.

    Args:
        case: The run.
        loop: Of loops of this kind.
    """
    rows = case.run.rows("lines")
    counts = case.run.table("steps", ("loop", "count"))  # as columns: there may be millions
    steps = columns.total(columns.steps_of(counts, loop)["count"])
    try:
        feeding = {(line.file, line.line) for line in case.input.pipeline.lines}
    except Abstain:
        feeding = set()
    hits = _hits(case, rows)
    turns = max([steps, *(hits.get((one.file or "", one.line or 0), 0) for one in loops.of_run(case.run))])
    often = {line: count / turns for line, count in hits.items() if turns and line not in feeding}
    inside = _inside(case, loop)
    often = {line: count * inside.get(line, 1.0) for line, count in often.items() if count >= _MANY}
    return {line: count for line, count in often.items() if count >= _MANY}


def _hits(case: Case, rows: Sequence[Mapping[str, Any]]) -> dict[SourceLine, int]:
    """How often each line ran: what was counted in windows is a guess, calls for values of the device all count."""
    asked: dict[SourceLine, int] = {}
    for place in case.run.rows("syncs"):
        line = place["file"], place["line"]
        asked[line] = asked.get(line, 0) + place["calls"]
    hits: dict[SourceLine, int] = {}
    scaled = set()
    for row in rows:
        line = row["file"], row["line"]
        hits[line] = hits.get(line, 0) + (row["hits"] or 0)
        if row["how"] in (LineSource.SCALED, LineSource.SAMPLED):
            scaled.add(line)
    return {line: max(count, asked.get(line, 0) if line in scaled else 0) for line, count in hits.items()}


def _inside(case: Case, loop: Loop) -> dict[SourceLine, float]:
    """Lines that also ran outside of the steps of loops of a kind, to the share of their time inside.

    Hits say nothing of when they were: an evaluation goes through the same model.
    """
    return case.run.once(f"lines that ran outside of {loop} steps, too", lambda _run: _shares_inside(case, loop))


def _shares_inside(case: Case, loop: Loop) -> dict[SourceLine, float]:
    path = next(where.path for where in (_TRAINING, *_OTHERS) if where.loop == loop)
    whole: dict[SourceLine, int] = {}
    within: dict[SourceLine, int] = {}
    seen: dict[SourceLine, int] = {}
    for sample in case.code.samples:
        for line in {(one.file, one.line) for one in sample.frames} if sample.main else ():
            seen[line] = seen.get(line, 0) + 1
            whole[line] = whole.get(line, 0) + sample.dur_ns
            within[line] = within.get(line, 0) + sample.dur_ns * path.holds(sample.phase)
    shares = {line: within[line] / ns for line, ns in whole.items() if ns and seen[line] >= _SEEN}
    return {line: share for line, share in shares.items() if share < _MOSTLY_INSIDE}
