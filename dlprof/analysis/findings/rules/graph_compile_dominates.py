"""Making and compiling the graph takes longer than the training that it is made for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.rules import retracing

_SHARE_OF_WORK = 0.30
_LEAST_NS = 2_500_000_000
"""A few seconds of compilation are what a graph costs; short trials of a script are mostly that."""


def look(case: Case) -> Iterator[Claim]:
    """First calls of step functions, tracing, binding and explicit compilation."""
    # Not `construct`: where the engine is started with its first layer, that is most of it.
    paths = ("fit/graph_compile", "fit/build", "compile")
    total = sum(case.own(path) for path in paths) - _again(case, paths)
    work = total + sum(
        case.own(top)
        for top in (
            "construct", "fit/steps", "fit/input", "fit/callbacks", "fit/validation", "evaluate", "predict", "script",
        )
    )  # fmt: skip
    if not case.pair and (total < _SHARE_OF_WORK * work or total < _LEAST_NS):
        return
    if case.pair and sum(case.time(path) for path in paths) < 0.03 * case.whole_ns:
        return
    yield Claim(
        f"Building and compiling graphs takes {100 * total / max(1, work):.0f} % of the work: {{time}}, {{share}}.",
        case.takes(*paths, "fit/steps/edges"),
        [queries.spans("graph_compile", "build", "construct", "compile")],
        "Train longer per start, roll loops of layers (unroll=False, lax.scan, RNN layers), make fewer layers, "
        "or keep compiled graphs (JAX_COMPILATION_CACHE_DIR).",
        case.training_place,
    )


def _again(case: Case, paths: Sequence[str]) -> int:
    """Time of compiling again, a cause of its own (ns)."""
    claimed = (claim.takes for claim in retracing.look(case))
    return sum(ns for takes in claimed for leaf, ns in takes.items() if leaf in paths)
