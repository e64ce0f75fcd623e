"""Steps of equal work take longer and longer: something that each of them keeps is gone through again by the next."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from dlprof.analysis import source_loops
from dlprof.analysis.findings import (
    doing,
    file_work,
    growing_calls,
    growing_graph,
    growing_lines,
    growth,
    own_loop_python,
    queries,
)
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.growth import Growth
from dlprof.analysis.findings.rules import slow_callback
from dlprof.analysis.findings.title import Title
from dlprof.analysis.scaled_hits import estimate
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground, Phase
from dlprof.units import duration

TITLE = Title("Steps of equal work took longer and longer", "steps that take longer each time")
_OF_UNEQUAL = Title("Steps took longer and longer", "steps that take longer each time")
_BACKWARD = 0.5
"""Share of the samples in going back, from which on what grows is what gradients go through."""
_TURNS = 2
"""Turns of an inner loop in a step, on average, from which on it may have had more of them each time."""
_MOSTLY = 0.5
"""Share of the growth that callbacks have, from which on they are what grows."""
_OF_CALLBACKS = (
    "See what the callback goes through again at each batch: lists or files that grow. Keep sums in place of values, "
    "or do that work once an epoch."
)
_OF_FILES = (
    "What is written at that line is more each time: append what is new to the file, rather than write all of it anew, "
    "or write it once, after the training."
)
_OF_TURNS = (
    "Divide the time of a step by its turns: only where that grows, each step leaves something behind (lists, hooks, "
    "buffers); else the turns are what to make cheaper."
)
_APPENDED = "open(path, 'a') in place of open(path, 'w'), and write only the rows that are new"
_OF_SOME = (
    "What runs in these steps alone goes through all that was before: work on what is new (append it to the file, add "
    "it to the sums), or do it less often."
)
_OF_LINE = (
    "What runs at that line goes through all that earlier steps left (lists that they add to, all outputs so far): "
    "work on what is new, keep sums in place of values, or do it less often: every so many steps, and at the end."
)
_OF_HOOKS = (
    "That line runs in a hook, which the model calls: where hooks are registered anew (in each epoch, at each "
    "evaluation), all earlier ones are called, too. Register it once, before the training, or keep its handle and "
    "call handle.remove() when it is no longer needed."
)
_HOOKS = ("torch/nn/modules/module.py", "torch/utils/hooks.py", "mxnet/gluon/block.py")
"""Files of engines that call the hooks of a model, and its parts."""
_PARTS = frozenset({"forward", "hybrid_forward", "__call__"})
"""Functions of parts of a model, which are no hooks."""
_OF_LEVEL = (
    "They grow and then level off, which is not how steps grow for what each of them leaves behind. Weights or "
    "gradients that shrink towards zero may have become numbers so small that a processor computes with them slowly "
    "(denormal ones): see whether the same steps stay fast with torch.set_flush_denormal(True), or in another engine "
    "with small values set to zero. Else see what changes in the training meanwhile, or on the machine (clock, other "
    "programs)."
)
_EVIDENCE = Query(
    "steps, by tenths of the loop",
    "SELECT tenth, count(*) AS steps, median(dur_ns) AS median_ns FROM (SELECT dur_ns, ntile(10) OVER (ORDER BY "
    "start_ns) AS tenth FROM steps WHERE loop = 'train') GROUP BY tenth ORDER BY tenth",
)


def look(case: Case) -> Iterator[Claim]:
    """Growth all along the loop, whatever its cause; with the engine's own time in gradients where that is it."""
    grown = growth.of_any(case) if not case.pair else None
    if any(growing_graph.claims(case)):  # that is why
        return
    if grown is None:
        yield from growing_calls.claims(case)
        return
    called = grown.in_callbacks > _MOSTLY
    path = Tree.FIT_CALLBACKS if called else Tree.FIT_STEPS
    share = min(1.0, grown.lost_ns / max(1, case.own(path)))
    back = case.code.share([Tree.FIT_STEPS], lambda sample: doing.goes_back(sample.frames, case.engine))
    grows_at = growing_lines.of_steps(case, grown) if back <= _BACKWARD and not called and grown.period == 1 else None
    line = grows_at or _line(case, grown, path)
    written = line is not None and back <= _BACKWARD and file_work.writes(case, line)
    turns = _turns(case, grown)
    is_open = grown.levels_off and not called and not written and not turns and back <= _BACKWARD
    if growth.in_callbacks(case) and not written and any(slow_callback.look(case)):
        return  # it tells the growth with the rest of them
    yield Claim(
        Sentence(
            f"{_grew(grown, turns)}{', most of all in the backward pass' * (back > _BACKWARD)}"
            f"{', in callbacks' * (called and not grown.of_callbacks)}"
            f"{f', most of all at line {grows_at[1]}' if grows_at else ''}{', and level off' * is_open}:"
        ),
        case.takes(path, share=share),
        [_EVIDENCE, queries.python_stood(Phase.FIT_STEPS)],
        _OF_FILES
        if written
        else _OF_CALLBACKS
        if called
        else _OF_SOME
        if grown.period > 1
        else _OF_LEVEL
        if is_open
        else _OF_TURNS
        if turns
        else _OF_HOOKS
        if line and _is_in_hook(case, line)
        else _OF_LINE
        if grows_at
        else _advice(in_backward=back > _BACKWARD),
        line,
        title=_OF_UNEQUAL if turns else TITLE,
        support=Support(Ground.REPEATED, seen=grown.count, agree=0.0 if turns or is_open else grown.rank),
        fix=_fix(case) if back > _BACKWARD else _APPENDED if written else None,
    )


def _line(case: Case, grown: Growth, path: TreePath) -> SourceLine | None:
    """Where the growth may be: in callbacks; of some steps alone, in Python of the script's own; or anywhere."""
    if path == Tree.FIT_CALLBACKS:
        return case.code.hottest_line([path], case.code.is_called_back)
    some = grown.period > 1
    of_some = case.code.hottest_line([path], lambda sample: own_loop_python.is_own(case, sample)) if some else None
    return of_some or case.code.hottest_line([path], lambda _sample: True)


def _is_in_hook(case: Case, line: SourceLine) -> bool:
    """Whether the function that a line stands in was called by the engine as a hook of a model."""
    for sample in case.code.samples:
        for frame, caller in pairwise(sample.frames):
            if (frame.file, frame.line) == line:
                return caller.file.startswith(_HOOKS) and frame.name not in _PARTS
    return False


def _turns(case: Case, grown: Growth) -> tuple[int, int] | None:
    """A loop in the step that ends by what happens in it, as an episode does: its line, and turns of a step on average.

    That it has more of them each time is more work. None: there is none, or it turns once.
    """
    place = case.training_line
    if place is None:
        return None
    for line, first in source_loops.open_ended(case.code.lines(place[0]), place[1]):
        hits = case.code.hits((place[0], first)) or 0
        if hits >= _TURNS * grown.count:
            turns = hits / grown.count
            is_scaled = case.code.is_scaled((place[0], first))
            return line, estimate(turns, hits) if is_scaled else round(turns)
    return None


def _grew(grown: Growth, turns: tuple[int, int] | None) -> str:
    which = "steps" if turns else "steps of equal work" if grown.period == 1 else f"steps, one in {grown.period},"
    more = (
        f"; the loop at line {turns[0]} has about {turns[1]:,} turns in each: where they become more, so does the work"
        if turns
        else ""
    )
    whose = "Callbacks of " * grown.of_callbacks
    return (
        f"{whose}{grown.count:,} {which} grow from {duration(grown.first_ns)} to {duration(grown.last_ns)} "
        f"each (medians of the first and the last fifth){more}"
    )


def _advice(*, in_backward: bool) -> str:
    if in_backward:
        return (
            "Each step's gradients go back through the steps before it: detach the state that is carried over, keep "
            "losses as numbers, and leave retain_graph out."
        )
    return "See what each step leaves behind: lists of tensors, operations added to a graph, hooks, growing buffers."


def _fix(case: Case) -> str | None:
    """The line that keeps the graph, changed; else what to detach."""
    line = case.code.line_with("retain_graph=True")
    if line is None:
        return "state = state.detach() after each step" if case.backend in ("torch", "mxnet") else None
    return (
        f"detach what is carried from step to step (state = state.detach()), and at {line[0]}:{line[1]} call "
        "backward() without retain_graph=True"
    )
