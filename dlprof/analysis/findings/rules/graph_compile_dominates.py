"""Making and compiling the graph takes longer than the training that it is made for."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dlprof.analysis import source_loops
from dlprof.analysis.findings import autograph_loops, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.rules import retracing
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, SpanKind

TITLE = Title("Building and compiling graphs took long", "building and compiling graphs")
_SHARE_OF_WORK = 0.30
_SHARE_OF_GAP = 0.03
_LEAST_NS = 2_500_000_000
"""A few seconds of compilation are what a graph costs; short trials of a script are mostly that, and so are searches
that train many models for a moment each."""
_BUILDING = (Tree.FIT_GRAPH_COMPILE, Tree.FIT_BUILD, Tree.COMPILE)
"""Not `construct`: where the engine is started with its first layer, that is most of it."""
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
    """First calls of step functions, tracing, binding and explicit compilation."""
    total = sum(case.own(path) for path in _BUILDING) - _again(case)
    work = total + sum(case.own(path) for path in _BESIDE)
    least_ns = _LEAST_NS * retracing.models(case)
    if not case.pair and (total < _SHARE_OF_WORK * work or total * _with_a_core(case) < least_ns):
        return
    if case.pair and sum(case.time(path) for path in _BUILDING) < _SHARE_OF_GAP * case.whole_ns:
        return
    calls = _lines(case)
    called = max(calls, key=lambda line: calls[line], default=None)
    loop = _traced_loop(case, calls)
    yield Claim(
        Sentence(f"Building and compiling graphs takes {100 * total / max(1, work):.0f} % of the work:"),
        case.takes(*_BUILDING, Tree.FIT_STEPS_EDGES),
        [queries.spans(SpanKind.GRAPH_COMPILE, SpanKind.BUILD, SpanKind.CONSTRUCT, SpanKind.COMPILE)],
        _NEXT if loop is None else _ROLLED,
        loop or called or case.training_line,
        support=Support(Ground.PLACE, part=total / max(1, work), usual=_SHARE_OF_WORK / 2),
        fix=_FIX.get(case.engine.name) if loop is not None else None,
    )


def _with_a_core(case: Case) -> float:
    """Share of the time that threads had a core: where others had it, compiling was not that long."""
    try:
        return 1 - case.machine.scheduling.waiting
    except Abstain:
        return 1.0


def _lines(case: Case) -> dict[SourceLine, int]:
    """For how long the calls of each line compiled (ns)."""
    times: dict[SourceLine, int] = {}
    for call in case.calls.of(SpanKind.GRAPH_COMPILE):
        if call.line is not None:
            times[call.line] = times.get(call.line, 0) + call.dur_ns
    return times


def _traced_loop(case: Case, calls: Collection[SourceLine]) -> SourceLine | None:
    """The loop in whose turns the script stood most while graphs were built, below the lines that called them."""
    stood: dict[SourceLine, int] = {}
    loops: dict[str, dict[int, int]] = {}
    for sample in case.code.samples:
        if not sample.main or not any(path.holds(sample.phase) for path in _BUILDING):
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


def _again(case: Case) -> int:
    """Time of compiling again, a cause of its own (ns)."""
    claims = retracing.look(case)
    return sum(ns for claim in claims for leaf, ns in claim.takes.items() if leaf in _BUILDING)
