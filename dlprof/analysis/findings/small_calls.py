"""Calls of fit, predict, evaluate and their kin for a few rows each, where one call takes any number of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dlprof.analysis.columns import integers
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.calls import Call
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Ground, SpanKind

_TITLE = Title("Calls for a few rows each", "calls for a few rows each")
_KINDS = {SpanKind.PREDICT: Tree.PREDICT, SpanKind.EVALUATE: Tree.EVALUATE}
_ON_BATCH = {SpanKind.PREDICT.value: "predict_on_batch(x)", SpanKind.EVALUATE.value: "test_on_batch(x, y)"}
_FEWEST = 30
ROWS = 8
"""Calls with more rows are no calls row by row."""
_AT_ONCE = 32
"""Rows of a batch of one call, as Keras has it."""
_SHARE_OF_WORK = 0.05
_AROUND = 0.5
"""Share of calls for more rows that is none of their steps', from which on fewer calls are worth a word."""
_FITS_TITLE = Title("fit was called for a step or two each time", "calls of fit for a step or two each")
_STEPS_OF_FIT = 4
"""Steps of a fit, on average: more are a training."""


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where a line makes many such calls."""
    for kind, path in _KINDS.items():
        outside = case.calls.outside_fit(kind)
        calls = _for_few_rows(case, outside)
        rows = _rows(case, calls) if calls else None
        if rows is None:
            yield from _around_steps(case, kind, outside)
            continue
        spent = sum(call.dur_ns for call in calls)
        saved = 1 - max(rows / _AT_ONCE, 1 / len(calls))
        takes = case.takes(path, share=min(1.0, spent / max(1, case.own(path))) * saved)
        if sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
            continue
        yield _claim(case, kind, calls, rows, takes)
    yield from fits(case)


@of_the_slower
def fits(case: Case) -> Iterator[Claim]:
    """Trainings of a step or a few each: what each call of fit does around its steps is lost."""
    calls = _of_one_line(case.calls.of(SpanKind.FIT))
    calls = [call for call in calls if call.name == "fit"]
    if len(calls) < _FEWEST:
        return
    steps, steps_ns, rows = _steps_of(case, calls)
    if not 0 < steps <= _STEPS_OF_FIT * len(calls):
        return
    spent = sum(call.dur_ns for call in calls)
    around = max(0.0, 1 - steps_ns / max(1, spent))
    one_by_one = (1 - rows / _AT_ONCE) * (1 - around) if rows is not None and rows <= ROWS else 0.0
    whole = min(1.0, spent / max(1, case.own(Tree.FIT)))
    takes = case.takes(Tree.FIT, share=whole * min(1.0, around + one_by_one))
    if sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
        return
    each_ms = float(np.median([call.dur_ns for call in calls])) / 1e6
    of_rows = f" of {rows:.0f} row{'s' * (rows != 1)}" if rows is not None else ""
    yield Claim(
        Sentence(
            f"fit was called {len(calls):,} times for {steps / len(calls):.1f} steps{of_rows} each, {each_ms:.2f} ms a "
            f"call, of which the steps took {100 * (1 - around):.0f} %:"
        ),
        takes,
        [queries.spans(SpanKind.FIT)],
        "Gather the rows and call fit once for all of them; where one update must follow another, call "
        "train_on_batch, which does nothing around its step.",
        calls[0].line,
        basis=Basis.ESTIMATED,
        title=_FITS_TITLE,
        support=Support(Ground.REPEATED, seen=len(calls)),
        fix=_fix(case, "fit", calls[0].line, instead="train_on_batch"),
    )


def _around_steps(case: Case, kind: str, calls: Sequence[Call]) -> Iterator[Claim]:
    """Calls of one line for more rows than that, which are mostly something else than their steps all the same."""
    mine = next((group for group in _by_line(calls) if len(group) >= _FEWEST), [])
    steps, steps_ns, _ = _steps_of(case, mine)
    rows = _rows(case, mine) if mine else None
    if not len(mine) <= steps <= _STEPS_OF_FIT * len(mine) or rows is None:
        return
    spent = sum(call.dur_ns for call in mine)
    around = max(0.0, 1 - steps_ns / max(1, spent))
    saved = around * (1 - 1 / len(mine)) * min(1.0, spent / max(1, case.own(_KINDS[SpanKind(kind)])))
    takes = case.takes(_KINDS[SpanKind(kind)], share=saved)
    if around >= _AROUND and sum(takes.values()) >= _SHARE_OF_WORK * case.whole_ns:
        share = f"of which {'its step takes' if steps == len(mine) else 'its steps take'} {100 * (1 - around):.0f} %:"
        yield _claim(case, kind, mine, rows, takes, share)


def _steps_of(case: Case, calls: Sequence[Call]) -> tuple[int, int, float | None]:
    """Steps of these fits, their time (ns), and rows of one; None: not known."""
    numbers = np.array([call.number for call in calls], np.int64)
    steps = case.run.table("steps", ("loop_id", "dur_ns", "samples"))
    mine = np.isin(integers(steps["loop_id"].fill_null(-1)), numbers)
    samples = integers(steps["samples"].fill_null(-1))[mine]
    known = samples[samples >= 0]
    return int(mine.sum()), int(integers(steps["dur_ns"])[mine].sum()), float(np.median(known)) if len(known) else None


def _claim(
    case: Case,
    kind: str,
    calls: Sequence[Call],
    rows: float,
    takes: Mapping[TreePath, int],
    where: str = "nearly all of it for the call itself:",
) -> Claim:
    each_ms = float(np.median([call.dur_ns for call in calls])) / 1e6
    return Claim(
        Sentence(
            f"{kind} was called {len(calls):,} times for {rows:.0f} row{'s' * (rows != 1)} each, {each_ms:.2f} ms a "
            f"call, {where}"
        ),
        takes,
        [queries.spans(*_KINDS)],
        f"Call {kind} once, for all rows; where they come one by one, call the model itself (model(x)), or a compiled "
        "function of it.",
        calls[0].line,
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(Ground.REPEATED, seen=len(calls)),
        fix=_fix(case, kind, calls[0].line),
    )


def _for_few_rows(case: Case, calls: Sequence[Call]) -> list[Call]:
    """Those of lines that make many, for a few rows each; those of the line with most time first."""
    lines = [group for group in _by_line(calls) if len(group) >= _FEWEST]
    few = [group for group in lines if (rows := _rows(case, group)) is not None and rows <= ROWS]
    return [call for group in few for call in group]


def _by_line(calls: Sequence[Call]) -> list[list[Call]]:
    """Calls by the line that makes them, those with most time first."""
    groups: dict[SourceLine, list[Call]] = {}
    for call in calls:
        if call.line is not None:
            groups.setdefault(call.line, []).append(call)
    return sorted(groups.values(), key=lambda group: -sum(call.dur_ns for call in group))


def _of_one_line(calls: Sequence[Call]) -> list[Call]:
    return next(iter(_by_line(calls)), [])


def _rows(case: Case, calls: Sequence[Call]) -> float | None:
    """Rows of a usual call; None: not known."""
    numbers = np.array([call.number for call in calls], np.int64)
    steps = case.run.table("steps", ("loop_id", "samples")).drop_null()
    samples, loops = integers(steps["samples"]), integers(steps["loop_id"])
    mine = np.isin(loops, numbers)
    if mine.any():
        return float(samples[mine].sum()) / len(np.unique(loops[mine]))
    told = [call.detail for call in calls[:_FEWEST]]
    known = [
        facts["partial_batch_size"] for facts in told if facts.get("batches") == 1 and "partial_batch_size" in facts
    ]
    return float(np.median(known)) if known else None


def _fix(case: Case, kind: str, line: SourceLine | None, *, instead: str = "") -> str | None:
    """The call with all that the loop goes through, in place of the loop; None: the loop is not seen.

    Args:
        case: The run.
        kind: The method that is called.
        line: Where.
        instead: The method for rows that depend on the ones before; empty: the model itself is called.
    """
    if line is None:
        return None
    file, number = line
    lines = case.code.lines(file)
    text = lines[number - 1] if 0 < number <= len(lines) else ""
    called = re.search(rf"([\w.\[\]]+)\.{kind}\(", text)
    indent = len(text) - len(text.lstrip())
    for above in reversed(lines[: number - 1]):
        if above.strip() and len(above) - len(above.lstrip()) < indent:
            loop = re.match(r"\s*for\s+\w+\s+in\s+([\w.]+)\s*:", above)
            if called and loop and not instead:
                return f"{called[1]}.{kind}({loop[1]}) once, in place of the loop `{above.strip()}`"
            break
    if called is None:
        return None
    one_by_one = f"{called[1]}.{instead}(x, y)" if instead else f"{called[1]}(x) or {called[1]}.{_ON_BATCH[kind]}"
    return f"{called[1]}.{kind}(...) once, with all rows in one array; {one_by_one} where a row depends on the last one"
