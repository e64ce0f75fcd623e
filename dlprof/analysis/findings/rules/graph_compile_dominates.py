"""Making and compiling the graph takes longer than the training that it is made for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from dlprof.analysis import source_loops
from dlprof.analysis.findings import autograph_loops, queries, short_trials, single_operators
from dlprof.analysis.findings.calls import Call
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.rules import retracing
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground, SpanKind

TITLE = Title("Building and compiling graphs took long", "building and compiling graphs")
_SHARE_OF_WORK = 0.30
_SHARE_OF_GAP = 0.03
_LEAST_NS = 2_500_000_000
"""For each model that is trained. A few seconds of compilation are what a graph costs: of many models that are trained
for a moment each it is asked (`short_trials`)."""
_BUILDING = (Tree.FIT_GRAPH_COMPILE, Tree.FIT_BUILD, Tree.COMPILE)
"""Not `construct`: where the engine is started with its first layer, that is most of it."""
_CALLS = (SpanKind.GRAPH_COMPILE, SpanKind.BUILD, SpanKind.COMPILE)
"""Calls in which graphs are made: a loop around the line of one runs it, and is not traced."""
_NEXT = "Train longer per start, keep loops over layers or time rolled, make fewer layers, or keep compiled graphs."
_ROLLED = (
    "This loop of Python's is traced turn by turn, and its turns are compiled beside each other: leave it to the "
    "engine, or make fewer turns; else train longer per start, or keep compiled graphs."
)
_FIX = {
    "tensorflow": "for t in tf.range(n) in place of range(n): one tf.while_loop, whose body is traced once",
    "jax": "jax.lax.scan(body, carry, xs), or jax.lax.fori_loop, in place of the loop of Python",
}
_LEAST_SEEN_NS = 150_000_000
"""Time in a loop while a graph was traced: some samples. Compiling takes longer by far, but stands in no loop."""
_BESIDE = (
    Tree.CONSTRUCT,
    Tree.FIT_STEPS,
    Tree.FIT_INPUT,
    Tree.FIT_WAIT,
    Tree.FIT_CALLBACKS,
    Tree.FIT_VALIDATION,
    Tree.EVALUATE,
    Tree.PREDICT,
    Tree.SCRIPT,
)


def look(case: Case) -> Iterator[Claim]:
    """First calls of step functions, tracing, binding and explicit compilation; operators that are compiled alone."""
    yield from single_operators.claims(case)
    alone = {} if case.pair else single_operators.times(case)
    total = max(0, sum(_of_graphs(case, path, alone) for path in _BUILDING) - _again(case))
    work = total + sum(alone.values()) + sum(case.own(path) for path in _BESIDE)
    if case.pair and sum(case.time(path) for path in _BUILDING) < _SHARE_OF_GAP * case.whole_ns:
        return
    least_ns = _LEAST_NS / case.machine.with_a_core
    if not case.pair and (total < _SHARE_OF_WORK * work or total < least_ns):
        return
    every = case.calls.of(SpanKind.GRAPH_COMPILE)
    of_graphs = _lines(call for call in every if not single_operators.is_one(call))
    called = max(of_graphs, key=lambda line: of_graphs[line], default=None)
    models = retracing.models(case)
    if not case.pair and total < least_ns * models:
        yield from short_trials.claims(case, models, _leaves(case, _BUILDING, alone), called or case.training_line)
        return
    calls = {call.line for call in case.calls.of(*_CALLS) if call.line is not None}
    loop = _traced_loop(case, calls, alone)
    yield Claim(
        Sentence(f"Building and compiling graphs takes {100 * total / max(1, work):.0f} % of the work:"),
        _leaves(case, (*_BUILDING, Tree.FIT_STEPS_EDGES), alone),
        [queries.spans(SpanKind.GRAPH_COMPILE, SpanKind.BUILD, SpanKind.CONSTRUCT, SpanKind.COMPILE)],
        _NEXT if loop is None else _ROLLED,
        loop or called or case.training_line,
        support=Support(Ground.PLACE, part=total / max(1, work), usual=_SHARE_OF_WORK / 2),
        fix=_FIX.get(case.engine.name) if loop is not None else None,
    )


def _lines(calls: Iterable[Call]) -> dict[SourceLine, int]:
    """For how long calls of each line compiled (ns)."""
    times: dict[SourceLine, int] = {}
    for call in calls:
        if call.line is not None:
            times[call.line] = times.get(call.line, 0) + call.dur_ns
    return times


def _traced_loop(case: Case, calls: Collection[SourceLine], alone: Mapping[TreePath, int]) -> SourceLine | None:
    """The loop in whose turns the script stood most while graphs were built, below the lines that called them.

    Args:
        case: The run.
        calls: Lines that called for graphs.
        alone: Time of operators that were compiled alone, by leaf (ns): nothing is traced in these.
    """
    phases = [path for path in _BUILDING if _of_graphs(case, path, alone) >= _LEAST_SEEN_NS]
    stood: dict[SourceLine, int] = {}
    loops: dict[str, dict[int, int]] = {}
    for sample in case.code.samples:
        if not sample.main or not any(path.holds(sample.phase) for path in phases):
            continue
        rewritten = autograph_loops.of_frames(case, sample.frames)
        if rewritten is not None:
            stood[rewritten] = stood.get(rewritten, 0) + sample.dur_ns
            continue
        for frame in sample.frames:
            if (frame.file, frame.line) in calls:
                break
            if frame.file not in case.code.user_files:
                continue
            if frame.file not in loops:
                loops[frame.file] = source_loops.around(case.code.lines(frame.file))
            if frame.line in loops[frame.file]:
                line = frame.file, loops[frame.file][frame.line]
                stood[line] = stood.get(line, 0) + sample.dur_ns
                break
    longest = max(stood, key=lambda one: stood[one], default=None)
    return longest if longest is not None and stood[longest] >= _LEAST_SEEN_NS else None


def _of_graphs(case: Case, path: TreePath, alone: Mapping[TreePath, int]) -> int:
    """Time below a path without that of operators that were compiled alone (ns)."""
    return case.own(path) - sum(ns for leaf, ns in alone.items() if path.holds(leaf))


def _leaves(case: Case, paths: Iterable[TreePath], alone: Mapping[TreePath, int]) -> dict[TreePath, int]:
    """The same by leaf (ns), of what is available."""
    return {leaf: max(0, ns - alone.get(leaf, 0)) for leaf, ns in case.takes(*paths).items()}


def _again(case: Case) -> int:
    """Time of compiling again, a cause of its own (ns)."""
    claims = retracing.look(case)
    return sum(ns for claim in claims for leaf, ns in claim.takes.items() if leaf in _BUILDING)
