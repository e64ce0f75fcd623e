"""Python that records, or checks, each allocation: asked for by the environment, or by a call of the script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Remedy, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, Phase, StepPart

_PATHS = (
    Tree.IMPORT, Tree.DATA, Tree.CONSTRUCT, Tree.COMPILE, Tree.SCRIPT, Tree.FIT_BUILD, Tree.FIT_CALLBACKS,
    Tree.FIT_STEPS / StepPart.HOST_PYTHON, Tree.FIT_STEPS / StepPart.DISPATCH,
)  # fmt: skip
"""Where mostly Python runs, which allocates all the time."""
_TITLE = Title("Python recorded each allocation", "recording each allocation of Python")
_CHECKED = Title("Python checked each allocation", "checking each allocation of Python")
_TRACES, _TRACES_DEEP, _CHECKS = 0.7, 0.8, 0.12
"""Share of the time of Python that it costs: a training of 400 small steps on PyTorch took 2.3 s, 10.4 s with stacks of
one frame, more with longer ones, and 2.7 s with checks."""
_DEBUG = "debug"
"""At the end of each PYTHONMALLOC that checks."""
_STARTS = "tracemalloc.start("
_STOPS = r"tracemalloc\.stop\("
_ADVICE = (
    "Leave PYTHONTRACEMALLOC out where allocations are not looked at: Python then keeps no stack of each of them. "
    "Where they are, keep one frame (PYTHONTRACEMALLOC=1): each further one takes more."
)
_OF_CALL = (
    "Leave tracemalloc.start() out where allocations are not looked at, or call tracemalloc.stop() before the "
    "training: until then Python keeps a stack of each of them, the longer the more frames it was told to keep."
)
_OF_CHECKS = (
    "Leave PYTHONMALLOC and PYTHONDEVMODE out of trainings that are not for debugging: Python then checks no bytes "
    "around each allocation."
)


@dataclass(frozen=True)
class _Kind:
    """What is done at each allocation.

    Attributes:
        variables: Those that ask for it, as they were set; empty: a line does.
        costs: Share of the time of Python.
        says: What is said, before the time.
        title, advice: Of the finding.
        line: The line that asks for it; None: the environment does.
    """

    variables: Mapping[str, str]
    costs: float
    says: str
    title: Title
    advice: str
    line: SourceLine | None = None


def claims(case: Case) -> Iterator[Claim]:
    """One for each thing that is done at every allocation; of a pair, what the other run does not do."""
    for kind in _kinds(case):
        yield Claim(
            Sentence(f"{kind.says} That costs about"),
            case.takes(*_PATHS, share=kind.costs),
            [queries.python_stood(Phase.IMPORT, Phase.SCRIPT, Phase.FIT_STEPS)],
            kind.advice,
            kind.line,
            Remedy(f"without {', '.join(kind.variables)}", dict.fromkeys(kind.variables)) if kind.variables else None,
            title=kind.title,
            basis=Basis.ESTIMATED,
            support=Support(Ground.STATED) if kind.variables else Support(Ground.PLACE, agree=_surely(case, kind.line)),
            fix=f"leave {' and '.join(kind.variables)} out" if kind.variables else "without tracemalloc.start()",
        )


def _kinds(case: Case) -> Iterator[_Kind]:
    traced = _set(case, "PYTHONTRACEMALLOC")
    started = case.code.line_with(_STARTS) if not traced and not case.pair else None
    if traced:
        (value,) = traced.values()
        frames = "one frame" if value == "1" else f"up to {value} frames"
        says = f"Python records each allocation, with a stack of {frames} (PYTHONTRACEMALLOC={value})."
        yield _Kind(traced, _TRACES if value == "1" else _TRACES_DEEP, says, _TITLE, _ADVICE)
    elif started is not None:
        says = f"Python records each allocation from tracemalloc.start() at line {started[1]} on."
        yield _Kind({}, _TRACES, says, _TITLE, _OF_CALL, started)
    checked = {name: value for name, value in _set(case, "PYTHONMALLOC").items() if value.endswith(_DEBUG)}
    checked |= _set(case, "PYTHONDEVMODE")
    if checked:
        asked = ", ".join(f"{name}={value}" for name, value in checked.items())
        yield _Kind(checked, _CHECKS, f"Python checks each allocation ({asked}).", _CHECKED, _OF_CHECKS)


def _surely(case: Case, line: SourceLine | None) -> float:
    """Whether recording that a line starts went on: 1, or 0 where the line may not have run, or some line stops it."""
    ran = line is not None and bool(case.code.hits(line))
    return float(ran and case.code.written(_STOPS) is None)


def _set(case: Case, name: str) -> dict[str, str]:
    """A variable that asks for something, if it is set as it is not in the other run of a pair."""
    value = case.run.manifest.environment.get(name, "")
    other = case.other.run.manifest.environment.get(name, "") if case.other is not None else None
    return {name: value} if value not in ("", "0", other) else {}
