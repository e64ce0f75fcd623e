"""A large array is a constant of a graph: the program that was compiled holds a copy of it."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import graph_constants
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Rank, Statement, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.graph_constants import GraphConstant
from dlprof.schema.vocabulary import Ground
from dlprof.units import size

TITLE = Title("A large array is a constant of a graph", "constants in graphs")
_LEAST_BYTES = 16 << 20
_EVIDENCE = (
    Query(
        "constants of graphs",
        "SELECT name AS array, detail, file, line, count(*) AS graphs FROM spans WHERE kind = 'graph_constant' "
        "GROUP BY ALL ORDER BY graphs DESC LIMIT 8",
    ),
)
_NEXT = (
    "Give it to the function as an argument, or let the function capture what lies on the device already (a tensor or "
    "a variable that was made outside of it): a constant is copied into each graph, and compilers try to fold it."
)


def look(case: Case) -> Iterator[Claim]:
    """What the engines told of the graphs that they traced."""
    if case.pair:
        raise Abstain("of two runs constants are not compared")
    found = [one for one in graph_constants.of_run(case.run) if one.held_bytes >= _LEAST_BYTES]
    if not found:
        return
    largest = found[0]
    place = (largest.file, largest.line) if largest.file is not None and largest.line is not None else None
    yield Claim(
        Statement(_told(largest) + _more(found)),
        {},
        _EVIDENCE,
        _NEXT,
        place,
        rank=Rank.WITHOUT_TIME,
        support=Support(Ground.STATED),
    )


def _told(one: GraphConstant) -> str:
    used = f", used at {one.file}:{one.line}" if one.file else ""
    graphs = f" in each of {one.count} graphs, {size(one.held_bytes)} together" if one.count > 1 else ""
    return f"`{one.function}` holds {one.array} ({size(one.bytes)}) as a constant{graphs}{used}"


def _more(found: list[GraphConstant]) -> str:
    rest = found[1:]
    return f"; {len(rest)} more with {size(sum(one.held_bytes for one in rest))}" if rest else ""
