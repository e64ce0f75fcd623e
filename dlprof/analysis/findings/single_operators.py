"""Operators that an engine compiles one by one, outside of training steps: weights that are made, evaluations.

One compiled function of all is no sum of these: what each compilation costs whatever its operator is falls away, the
compiler's work on the operators themselves stays. On JAX, functions that made weights took a third less as one, and
those of many small operators nearly nothing (two cores). Once they are one, a cache on disk keeps it for later starts:
single ones are over too soon for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from dlprof.analysis.findings import made_anew, queries
from dlprof.analysis.findings.calls import Call, Interval
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Basis, Ground, SpanKind
from dlprof.units import duration

_TITLE = Title("Operators were compiled one by one", "operators that are compiled one by one")
_FEWEST = 8
"""Of fewer the least that one costs cannot be told."""
_LEAST_NS = 2_500_000_000
"""A second or two of that is what starting costs; short trials of a script are mostly that."""
_NEXT = (
    "Compile the outermost function that calls them as one; an inner one that is called for several shapes is "
    "compiled for each. A cache on disk keeps it for later starts, and leaves out what takes less than a second. "
    "NumPy, for what is done once, compiles nothing."
)
_FIX = {
    "jax": "f = jax.jit(f) for the function that calls them; jax.config.update('jax_compilation_cache_dir', folder)"
}
"""How each engine compiles a function, and keeps it."""


@dataclass(frozen=True)
class _Operator:
    """One compilation: its operator's name, the user's line, and all of it from lowering on."""

    name: str
    line: SourceLine | None
    intervals: tuple[Interval, ...]

    @property
    def dur_ns(self) -> int:
        return sum(end - begin for begin, end in self.intervals)


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where there were many, for what they would take less as one function."""
    operators = _operators(case)
    whole_ns = sum(one.dur_ns for one in operators)
    # Where others had the core meanwhile, compiling was not that long.
    if len(operators) < _FEWEST or whole_ns * case.machine.with_a_core < _LEAST_NS:
        return
    each_ns = _least_ns(operators)
    share = sum(min(one.dur_ns, each_ns) for one in operators) / max(1, whole_ns)
    yield Claim(
        Sentence(
            f"{len(operators)} operators of {case.engine.title} were compiled one by one, outside of training steps, "
            f"in {duration(whole_ns)}; in one compiled function they would take less by about"
        ),
        {leaf: int(ns * share) for leaf, ns in _times(case, operators).items()},
        [queries.spans(SpanKind.GRAPH_COMPILE, SpanKind.GRAPH_STAGE)],
        _NEXT,
        _line(operators),
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(Ground.REPEATED, seen=len(operators), agree=share),
        fix=_FIX.get(case.engine.name),
    )


def is_one(call: Call) -> bool:
    """Whether a call lowered or compiled an operator alone."""
    return bool((call.detail.get("graph") or {}).get("operator"))


def times(case: Case) -> dict[TreePath, int]:
    """What all of them took, leaf by leaf (ns)."""
    return _times(case, _operators(case))


def _times(case: Case, operators: Sequence[_Operator]) -> dict[TreePath, int]:
    stretches = made_anew.joined([interval for one in operators for interval in one.intervals])
    return case.spread(case.phases.of(stretches))


def _operators(case: Case) -> list[_Operator]:
    """Those of a run; lowering comes right before its compilation."""
    found: list[_Operator] = []
    lowered: Call | None = None
    for call in case.calls.of(SpanKind.GRAPH_STAGE, SpanKind.GRAPH_COMPILE):
        if not is_one(call):
            continue
        if call.kind == SpanKind.GRAPH_STAGE:
            lowered = call
            continue
        name = str(call.detail["graph"].get("function"))
        before = [lowered] if lowered is not None and lowered.detail["graph"].get("function") == name else []
        found.append(_Operator(name, call.line, tuple(part.interval for part in [*before, call])))
        lowered = None
    return found


def _least_ns(operators: Sequence[_Operator]) -> float:
    """What a compilation costs whatever its operator is (ns): half of the kinds of operators take no more at least."""
    least: dict[str, int] = {}  # of each kind
    for one in operators:
        least[one.name] = min(one.dur_ns, least.get(one.name, one.dur_ns))
    return median(least.values())


def _line(operators: Sequence[_Operator]) -> SourceLine | None:
    """The user's line at which most of it was."""
    times: dict[SourceLine, int] = {}
    for one in operators:
        if one.line is not None:
            times[one.line] = times.get(one.line, 0) + one.dur_ns
    return max(times, key=lambda line: times[line], default=None)
