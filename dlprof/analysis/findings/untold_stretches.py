"""Stretches of a foreign trace in which no operator ran, and what the program did then, as far as the trace tells.

That may be loading, saving, logging, or a pause: no wait is marked, so it is asked. With functions of Python in the
trace the one of the script's own is named that it was in for longest; without, only that nothing of the engine ran.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dlprof.analysis.findings import input_waits
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import IN_PARTS, Tree
from dlprof.schema.vocabulary import Ground, StepPart
from dlprof.units import cut, duration, safe

_IN_FUNCTION = Title("The script was long in a function of its own", "a function of the script")
_TITLE = Title("No operator ran for a large part of the trace", "time in which no operator ran")
_SHARE = 0.20
_SHARE_UNTOLD = 0.25
"""Where nothing tells what the program did."""
_BETWEEN = (Tree.OUTSIDE_STEPS / StepPart.IDLE, Tree.OUTSIDE_STEPS / StepPart.HOST_PYTHON)
_IN_STEPS = tuple(root for root in IN_PARTS if root != Tree.OUTSIDE_STEPS)
_UNTOLD = (*_BETWEEN, *(root / StepPart.IDLE for root in _IN_STEPS))
"""Python in steps is no gap: it starts operators, too."""
_ANYWHERE = (*_UNTOLD, *(root / StepPart.HOST_PYTHON for root in _IN_STEPS))
_ASKED = 0.0
"""What agrees: that it could be saved nothing says."""
_NAME_AT_MOST = 60
_SEE = (
    "See what it does there: batches that are read or made can be prepared beside the training, or once before it; "
    "files can be saved, and things logged, less often."
)
_TRACE_MORE = (
    "The trace does not tell what the program did then. Record functions of Python, too (with_stack=True of "
    "torch.profiler, python_tracer_level of JAX), mark it (record_function, TraceAnnotation), or run it under dlprof "
    "trace."
)
_EVIDENCE = Query("what each file says of functions of Python", "SELECT file, facts FROM sources")


@dataclass(frozen=True)
class _Function:
    """A function of the script's in a foreign trace.

    Attributes:
        place: As `load (train.py:6)`.
        ns: Time in it (ns): while no operator ran, or in all where the trace tells only that.
        line: Where it is; None: the name alone says so.
        inner: The call in it with most of that; empty: itself, or not known.
        inner_ns: Time in that (ns).
    """

    place: str
    ns: int
    line: SourceLine | None = None
    inner: str = ""
    inner_ns: int = 0


def claims(case: Case) -> Iterator[Claim]:
    """One, for a trace of the host alone. Of waits for batches that it tells `input-bound` speaks first."""
    if case.pair or not input_waits.is_of_trace(case) or case.devices.times or not _ran(case):
        return
    function = _longest(case)
    if function is not None and function.ns >= _SHARE * case.whole_ns:
        yield _of_function(case, function)
        return
    takes = case.takes(*_UNTOLD)
    share = sum(takes.values()) / max(1, case.whole_ns)
    if function is None and share >= _SHARE_UNTOLD:
        yield Claim(
            Sentence("No operator of the model ran, and nothing in the trace says what the program did meanwhile:"),
            takes,
            [_EVIDENCE],
            _TRACE_MORE,
            title=_TITLE,
            support=Support(Ground.PLACE, agree=_ASKED, part=share),
        )


def _ran(case: Case) -> bool:
    """Whether operators of the process that is told of are in the trace at all: it may be the other one's."""
    return any(case.own(root / StepPart.KERNELS) for root in IN_PARTS)


def _of_function(case: Case, function: _Function) -> Claim:
    most = f", {duration(function.inner_ns)} of it in {cut(safe(function.inner), _NAME_AT_MOST)}"
    return Claim(
        Sentence(
            f"No operator ran while the script was in {cut(safe(function.place), _NAME_AT_MOST)}"
            f"{most if function.inner else ''}:"
        ),
        case.filled(function.ns, *_ANYWHERE),
        [_EVIDENCE],
        _SEE,
        function.line,
        title=_IN_FUNCTION,
        support=Support(Ground.PLACE, agree=_ASKED, part=min(1.0, function.ns / max(1, case.whole_ns))),
    )


def _longest(case: Case) -> _Function | None:
    """The function of the script's own with most time; None: the trace has none of Python."""
    found = []
    for source in case.run.rows("sources"):
        facts: Any = json.loads(source["facts"] or "{}")
        found += [_outside_operators(one) for one in facts.get("python_functions") or ()]
        if source["format"] == _OF_JAX:
            found += [_Function(str(one["function"]), int(one["total_ns"])) for one in facts.get(_IN_ALL) or ()]
    return max(found, key=lambda one: one.ns, default=None)


_OF_JAX, _IN_ALL = "xspace", "own_with_callees"


def _outside_operators(told: Any) -> _Function:
    line = str(told["file"]), int(told["line"])
    inner = "" if told["inner"] == told["function"] else str(told["inner"])
    return _Function(f"{told['function']} ({line[0]}:{line[1]})", int(told["ns"]), line, inner, int(told["inner_ns"]))
