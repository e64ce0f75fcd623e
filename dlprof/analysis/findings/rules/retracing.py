"""Graphs are compiled again and again, because an argument's shape, type or value keeps changing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from dlprof.analysis import recompilations
from dlprof.analysis.columns import integers, steps_of, total
from dlprof.analysis.findings import growing_graph, growing_setups, made_anew, queries, torch_setups
from dlprof.analysis.findings.calls import Call, Interval
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.recompilations import Recompilation
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground, Loop, SpanKind, StepPart

_STEP_TITLE = Title("The step function was compiled more than once", "compiling the step function again")
_ANEW_TITLE = Title("A compiled function was made anew again and again", "compiling functions that were made anew")
TITLE = Title("Graphs were compiled again", "compiling graphs again")
_ONCE = {
    "jax": "step = jax.jit(f) once, at module level, with what changes as arguments of f",
    "tensorflow": "@tf.function once, at module level, with what changes as tensors that are passed",
    "torch": "step = torch.compile(f) once, at module level",
}
"""How each engine compiles a function once."""
_SHARE_OF_WORK = 0.05
_LOOPS = (Tree.FIT, Tree.EVALUATE, Tree.PREDICT, Tree.SCRIPT, Tree.COMPILE)
_USUAL = 2
"""The short batch at the end of an epoch, and its kin, have a function compiled once more: no cause for a word. So do
the engine's own small functions, each for one more shape, however many they are."""
_AS_OFTEN = 0.5
"""So many times as often as the functions of the script's, what follows their shapes is compiled at least."""
_SHARE_OF_ONE = 0.20
"""Of the work: a compilation that takes so much is worth a word by itself."""
_GUARD_TEXT = 120
_LONGER = (Tree.FIT_STEPS_EDGES, Tree.FIT_STEPS / StepPart.DISPATCH, Tree.FIT_GRAPH_COMPILE)
"""Where the time is that a step with a compilation takes beyond that."""
_BESIDE_STEPS = (Tree.FIT_CALLBACKS, Tree.FIT_WAIT, Tree.FIT_VALIDATION)
_CAUSES = Query(
    "a few with their causes",
    "SELECT start_ns, dur_ns, detail FROM spans WHERE detail LIKE '%\"again\": true%' ORDER BY dur_ns DESC LIMIT 3",
)


def look(case: Case) -> Iterator[Claim]:
    """Recompilations with a cause, and what they made of the steps that they fell into."""
    others = [
        *growing_graph.claims(case),
        *(list(made_anew.claims(case)) or growing_setups.claims(case)),
        *torch_setups.claims(case),
    ]
    if others:
        yield from others
        return
    again, firsts = _again(case), [first.interval for first in _lost(case)]
    work = sum(case.own(top) for top in (Tree.FIT, Tree.SCRIPT, Tree.COMPILE))
    compiled = sum(call.dur_ns for call in again)
    if again and compiled >= _SHARE_OF_WORK * work:
        yield _of_arguments(case, again)
    elif len(firsts) >= _USUAL and sum(end - begin for begin, end in firsts) >= _SHARE_OF_WORK * work:
        yield _of_new_functions(case, firsts)
    else:
        anew = _made_anew(case)
        if len(anew) > _USUAL and sum(call.dur_ns for call in anew) >= _SHARE_OF_WORK * work:
            yield _of_functions_made_anew(case, anew)


# -- functions of the script that were made anew, and compiled each time -----------------------------------


def _made_anew(case: Case) -> list[Call]:
    """Compilations of functions of one name at one line, each for the first time: they are not the same function.

    The first one is left out. Engines make functions of their own for each operator and shape; these are not meant.
    """
    places: dict[tuple[str, SourceLine], list[Call]] = {}
    for call in case.calls.of(SpanKind.GRAPH_COMPILE):
        name = call.compiled.get("function")
        if name and call.line is not None and not call.compiled.get("again") and _is_in_loop(case, call):
            places.setdefault((name, call.line), []).append(call)
    theirs = [calls for (name, line), calls in places.items() if case.code.defines(name, line)]
    return max(theirs, key=len, default=[])[1:]


def _of_functions_made_anew(case: Case, anew: Sequence[Call]) -> Claim:
    by_phase = case.phases.of(made_anew.joined([call.interval for call in [*anew, *_stages_of(case, anew)]]))
    return Claim(
        Sentence(f"{anew[0].compiled['function']} was made anew {len(anew)} times, and compiled each time:"),
        _with_longer_steps(case, by_phase),
        [queries.spans(SpanKind.GRAPH_COMPILE)],
        "Make the compiled function once, outside of the loop, and call it with what changes as an argument.",
        anew[0].line,
        title=_ANEW_TITLE,
        support=Support(Ground.REPEATED, seen=len(anew)),
        fix=_ONCE.get(case.backend),
    )


def _stages_of(case: Case, anew: Sequence[Call]) -> list[Call]:
    """What tracing and lowering of these took, where the engine tells it apart; that of the first one is left out."""
    place = anew[0].compiled.get("function"), anew[0].line
    return _later_stages(case, lambda name, line: (name, line) == place)


def _later_stages(case: Case, chosen: Callable[[str | None, SourceLine | None], bool]) -> list[Call]:
    """Stages of some functions, chosen by name and line: of each function's stage all but the first."""
    stages: dict[tuple[str | None, str], list[Call]] = {}
    for call in case.calls.of(SpanKind.GRAPH_STAGE):
        graph = call.detail.get("graph") or {}
        name = graph.get("function")
        if chosen(name, call.line):
            stages.setdefault((name, graph.get("stage", "")), []).append(call)
    return [call for calls in stages.values() for call in calls[1:]]


# -- step functions that were made anew -------------------------------------------------------------------


def _of_new_functions(case: Case, firsts: Sequence[Interval]) -> Claim:
    """Each first call of a step function traces and compiles again."""
    takes = case.spread(case.phases.of(firsts))
    again = len(firsts) / (len(firsts) + 1)
    takes.update(case.takes(Tree.FIT_STEPS_EDGES, share=again))  # each fit begins and ends its epochs anew, too
    return Claim(
        Sentence(f"The step function was made anew {len(firsts)} times, and each first call compiles it again:"),
        takes,
        [queries.spans(SpanKind.COMPILE, SpanKind.BUILD, SpanKind.GRAPH_COMPILE)],
        "Call compile() once, before the first fit; change the optimizer's learning_rate instead of compiling again.",
        case.code.line_with(".compile("),
        title=_STEP_TITLE,
        support=Support(Ground.REPEATED, seen=len(firsts)),
    )


def models(case: Case) -> int:
    """How many models were trained that were made one after another, without those of other threads: 1 at least."""
    firsts = _first_calls(case)
    return max(1, len(_with_phases(case, firsts)) - len(_lost(case)))


@dataclass(frozen=True)
class _First:
    """The first call of a training step function.

    Attributes:
        interval: Its begin and end (ns).
        thread: Number of its thread; None: not known.
        fit_end_ns: When the training that it is of ended (ns); its own end, where that is not known.
        layers: Names of the model's layers; empty: not known.
    """

    interval: Interval
    thread: int | None
    fit_end_ns: int
    layers: tuple[str, ...]


def _lost(case: Case) -> list[_First]:
    """First calls of old models in the time of the thread that phases are of."""
    return _with_phases(case, _of_old_models(case, _first_calls(case)))


def _with_phases(case: Case, firsts: Sequence[_First]) -> list[_First]:
    own = case.calls.have_phases([(first.thread, first.interval[0]) for first in firsts])
    return [first for first, is_own in zip(firsts, own.tolist(), strict=True) if is_own]


def _of_old_models(case: Case, firsts: Sequence[_First]) -> list[_First]:
    """First calls before which no new model was made: that model had a step function before."""
    made = np.sort([call.begin_ns for call in case.calls.of(SpanKind.CONSTRUCT)])
    ordered = sorted(firsts, key=lambda first: first.interval)
    found = []
    for place, later in enumerate(ordered):
        earlier = next((one for one in reversed(ordered[:place]) if _may_be_of_one_model(one, later)), None)
        if earlier is None:
            continue
        before, after = np.searchsorted(made, [earlier.interval[0], later.interval[0]])
        if before == after:
            found.append(later)
    return found


def _may_be_of_one_model(earlier: _First, later: _First) -> bool:
    """Whether nothing tells two models: not their layers, nor that both were trained at a time, on two threads."""
    if earlier.layers and later.layers and earlier.layers != later.layers:
        return False
    return earlier.thread == later.thread or earlier.fit_end_ns <= later.interval[0]


def _first_calls(case: Case) -> list[_First]:
    """The first calls of training step functions."""
    columns = ("loop", "loop_id", "thread_id", "first", "start_ns", "dur_ns")
    firsts = steps_of(case.run.filtered("steps", columns, lambda piece: piece["first"]), Loop.TRAIN)
    loops = {call.number: call for call in case.calls.of(SpanKind.FIT, SpanKind.ON_BATCH)}
    return [_first(row, loops.get(row["loop_id"])) for row in firsts.to_pylist()]


def _first(row: Mapping[str, Any], loop: Call | None) -> _First:
    end = row["start_ns"] + row["dur_ns"]
    layers = (loop.detail.get("model") or {}).get("layers") or () if loop is not None else ()
    return _First(
        interval=(row["start_ns"], end),
        thread=row["thread_id"],
        fit_end_ns=end if loop is None else max(end, loop.end_ns),
        layers=tuple(str(layer.get("name")) for layer in layers),
    )


# -- functions that were traced again for another argument -------------------------------------------------


def _of_arguments(case: Case, again: Sequence[Call]) -> Claim:
    lost = [*again, *_stages_of_functions(case, again), *_first_runs(case, again), *_following(case, again)]
    by_phase = case.phases.of(made_anew.joined([call.interval for call in lost]))
    worst = _worst(case, again)
    return Claim(
        Sentence(
            f"{_graphs(len(again))} compiled again, {'most often ' * (len(again) > 1)}{worst.function} ({_why(worst)}):"
        ),
        _with_longer_steps(case, by_phase),
        [queries.spans(SpanKind.GRAPH_COMPILE), _CAUSES],
        "Keep shapes and types of what is passed equal: pad or drop the last batch, pass tensors, not Python numbers.",
        (worst.file, worst.line) if worst.file and worst.line else case.training_line,
        support=Support(Ground.STATED, seen=len(again)),
    )


def _stages_of_functions(case: Case, again: Sequence[Call]) -> list[Call]:
    """What tracing and lowering of these took, where the engine tells it apart, and the first of each function's."""
    functions = {call.compiled.get("function") for call in again}
    return _later_stages(case, lambda name, _line: name in functions)


def _following(case: Case, again: Sequence[Call]) -> list[Call]:
    """The engine's own small functions that were compiled about as often in the same time: for the same new shapes.

    It keeps no word of why it makes one of these. The first of each is left out.
    """
    functions = {call.compiled.get("function") for call in again}
    begin, end = min(call.begin_ns for call in again), max(call.end_ns for call in again)
    times: dict[str, list[Call]] = {}
    for call in case.calls.of(SpanKind.GRAPH_COMPILE):
        graph = call.detail.get("graph") or {}
        if graph.get("operator") and begin <= call.begin_ns <= end and _is_in_loop(case, call):
            times.setdefault(graph.get("function") or call.name, []).append(call)
    least = max(_USUAL + 1, _AS_OFTEN * len(again) / len(functions))
    names = {name for name, calls in times.items() if name not in functions and len(calls) >= least}
    stages = [call for call in _later_stages(case, lambda name, _line: name in names) if begin <= call.begin_ns <= end]
    return [*(call for name in names for call in times[name][1:]), *stages]


def _graphs(count: int) -> str:
    return "1 graph was" if count == 1 else f"{count} graphs were"


def _worst(case: Case, again: Sequence[Call]) -> Recompilation:
    """The function and cause that took most of the time."""
    functions = {call.compiled.get("function") for call in again}
    causes = recompilations.find(case.run.table("spans", recompilations.COLUMNS))
    return max((cause for cause in causes if cause.function in functions), key=lambda cause: cause.time_ns)


def _with_longer_steps(case: Case, by_phase: dict[TreePath, int]) -> dict[TreePath, int]:
    """A step in which a graph was compiled is longer by more than the compilation: the new graph is made ready, too.

    What was compiled in callbacks, such as for a prediction, has that there, though a step lasts until they are over.
    """
    takes = case.spread(by_phase)
    compiled_ns = sum(by_phase.values())
    in_callbacks = sum(ns for phase, ns in by_phase.items() if any(path.holds(phase) for path in _BESIDE_STEPS))
    left = int(_slow_first_runs(case, compiled_ns) * (1 - in_callbacks / max(1, compiled_ns)))
    for leaf in _LONGER:
        more = min(left, max(0, case.own(leaf) - takes.get(leaf, 0)))
        if more:
            takes[leaf] = takes.get(leaf, 0) + more
            left -= more
    return takes


def _again(case: Case) -> list[Call]:
    """Recompilations inside loops, of functions that had more than is usual.

    What building a model compiles once for each shape is left out.
    """
    of_functions: dict[str, list[Call]] = {}
    for call in case.calls.with_phases(SpanKind.GRAPH_COMPILE):
        if call.compiled.get("again") and _is_in_loop(case, call):
            of_functions.setdefault(call.compiled.get("function") or call.name, []).append(call)
    often = [call for calls in of_functions.values() if len(calls) > _USUAL for call in calls]
    return often or max((_long(case, calls) for calls in of_functions.values()), key=len, default=[])


def _long(case: Case, calls: Sequence[Call]) -> list[Call]:
    """Those of a function that are few, but of which each takes much: as for a short batch at the end of an epoch."""
    least_ns = _SHARE_OF_ONE * case.work_ns
    return [call for call in calls if call.line is not None and call.dur_ns >= least_ns]


def _is_in_loop(case: Case, call: Call) -> bool:
    return any(loop.holds(phase) for phase in case.phases.of([call.interval]) for loop in _LOOPS)


def _first_runs(case: Case, again: Sequence[Call]) -> list[Call]:
    """The first calls, outside loops, of graphs that were compiled again: each follows its compilation."""
    numbers = {call.number for call in again}
    runs, compiled = [], None
    for call in sorted(case.calls.of(SpanKind.GRAPH_COMPILE, SpanKind.FIRST_RUN), key=lambda call: call.begin_ns):
        if call.kind == SpanKind.GRAPH_COMPILE:
            compiled = call.number
        elif compiled in numbers:
            runs.append(call)
    return runs


def _slow_first_runs(case: Case, compiled_ns: int) -> int:
    """Time of the training's steps with a recompilation beyond a usual step and the compilation itself (ns).

    Steps of predictions and evaluations are no part of the leaves that such a step makes longer.
    """
    columns = ("loop", "compiled", "first", "dur_ns")
    again = case.run.filtered("steps", columns, lambda piece: pc.and_not(piece["compiled"], piece["first"]))
    again = steps_of(again, Loop.TRAIN)
    if not again.num_rows:
        return 0
    plain = case.run.filtered("steps", ("loop", "compiled", "dur_ns"), lambda piece: pc.invert(piece["compiled"]))
    plain = steps_of(plain, Loop.TRAIN)
    usual = np.median(integers(plain["dur_ns"])) if plain.num_rows else 0
    return max(0, int(total(again["dur_ns"]) - again.num_rows * usual) - compiled_ns)


def _why(cause: Recompilation) -> str:
    if cause.what is None:
        return "for no reason that is told"
    if cause.what == "guard":
        return " ".join((cause.now or "").split())[:_GUARD_TEXT]
    return f"{cause.what} of {cause.argument}: {cause.before} to {cause.now}"
