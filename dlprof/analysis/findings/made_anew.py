"""Models that are made, compiled or loaded again and again, with hardly a step between, or though they are alike."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, integers
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.calls import Call, Interval
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Ground, SpanKind
from dlprof.store.run import Run

_TITLE = Title("Models were set up again and again", "setting models up again")
_KINDS = (SpanKind.COMPILE, SpanKind.CONSTRUCT, SpanKind.SAVE)
_FOLLOWING = (SpanKind.GRAPH_COMPILE, SpanKind.BUILD, SpanKind.FIRST_RUN)
"""What a new model costs once it runs."""
_FEWEST = 5
_STEPS_BETWEEN = (1, 5)
"""A search over models trains each of them for longer; layers that are made in a row run no step in between."""
_SHARE_OF_WORK = 0.10
_SHARE_OF_ALIKE = 0.15
"""The same of models that train for longer, and could be one."""
_WORDS = {"compile": "compiled", "load_model": "loaded", "clone_model": "copied"}


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where a line sets a model up many times, each time for a few steps."""
    setups = _turns(case, of_one_line(case.calls.with_phases(*_KINDS)))
    if len(setups) < _FEWEST or (between := _steps_between(case, setups)) < _STEPS_BETWEEN[0]:
        return
    for_long = between > _STEPS_BETWEEN[1]
    if for_long and not _are_alike(case.run):
        return
    begin = setups[0].end_ns
    again = [
        call for call in case.calls.with_phases(*_KINDS, *_FOLLOWING) if call.begin_ns >= begin and _is_setup(call)
    ]
    takes = case.spread(case.phases.of(joined([call.interval for call in again])))
    if sum(takes.values()) < (_SHARE_OF_ALIKE if for_long else _SHARE_OF_WORK) * case.whole_ns:
        return
    if for_long:
        setups = _last_of_turns(case, len(setups))
    name = setups[0].name.rpartition(".")[2]
    how = "each time with layers of the same classes and as many weights" if for_long else "with few steps between"
    yield Claim(
        Sentence(f"A model was {_WORDS.get(name, 'made')} {len(setups)} times at one line, {how}:"),
        takes,
        [queries.spans(*_KINDS, *_FOLLOWING)],
        _ALIKE if for_long else _ONCE,
        setups[0].line,
        title=_TITLE,
        support=Support(Ground.REPEATED, seen=len(setups), agree=_MAY_DIFFER if for_long else 1.0),
        fix=_fix(case, setups[0].line),
    )


_ONCE = "Set it up once, before the loop: what follows, such as compiling its functions, is done once, too."
_ALIKE = (
    "Unless they differ in what is not looked at (rates, activations), set one up before the loop: what follows, such "
    "as compiling its functions, is done once, too. To begin anew, give it and its optimizer their first values back: "
    "model.set_weights(weights), and those of model.optimizer.variables."
)
_MAY_DIFFER = 0.75
"""How sure it is that they differ in nothing else, at a guess."""


def _are_alike(run: Run) -> bool:
    """Whether many models were trained with layers of the same classes, as many weights, one loss and one optimizer.

    Those of a search over widths, depths or rates of learning differ in one of them.
    """
    kinds, models = set(), set()
    rows = run.filtered("spans", ("kind", "detail"), lambda piece: pc.equal(piece["kind"], SpanKind.FIT))
    for detail in dict.fromkeys(rows["detail"].to_pylist()):
        told = json.loads(detail or "{}")
        layers, training = (told.get("model") or {}).get("layers") or (), told.get("training") or {}
        count, optimizer = (training.get("weights") or {}).get("count"), training.get("optimizer")
        how = count, training.get("loss"), json.dumps(optimizer, sort_keys=True)
        kinds.add((*(layer["class"] for layer in layers), *how) if layers and count else None)
        models.add(tuple(layer["name"] for layer in layers))  # Keras numbers them through
    return len(models) >= _FEWEST and len(kinds) == 1 and None not in kinds


def joined(intervals: Sequence[Interval]) -> list[Interval]:
    """Stretches of time without overlaps, in their order: calls lie in each other."""
    found: list[Interval] = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def _is_setup(call: Call) -> bool:
    return call.kind != SpanKind.SAVE or not call.name.rpartition(".")[2].startswith("save")


def of_one_line(calls: Sequence[Call]) -> list[Call]:
    """The line with most time among those that set models up often."""
    often = (group for group in _by_line(calls) if len(group) >= _FEWEST)
    return max(often, key=lambda group: sum(call.dur_ns for call in group), default=[])


def _last_of_turns(case: Case, count: int) -> list[Call]:
    """Of lines with so many turns, the one that ends each setup: where the model is put together, or compiled."""
    turns = (_turns(case, group) for group in _by_line(case.calls.with_phases(*_KINDS)))
    return max((one for one in turns if len(one) == count), key=lambda group: group[0].begin_ns)


def _by_line(calls: Sequence[Call]) -> Iterable[list[Call]]:
    groups: dict[SourceLine, list[Call]] = {}
    for call in sorted(calls, key=lambda call: (call.begin_ns, -call.end_ns)):
        if call.line is not None and _is_setup(call):
            group = groups.setdefault(call.line, [])
            if not group or call.begin_ns >= group[-1].end_ns:  # those inside of another one are part of it
                group.append(call)
    return groups.values()


def _turns(case: Case, setups: Sequence[Call]) -> list[Call]:
    """The first of those with no step between them: several layers that one line makes are one model."""
    passed = _passed(case, setups)
    return [call for number, call in enumerate(setups) if not number or passed[number] > passed[number - 1]]


def _steps_between(case: Case, setups: Sequence[Call]) -> float:
    """Median number of steps, of any loop, from one setup to the next."""
    return float(np.median(np.diff(_passed(case, setups))))


def _passed(case: Case, setups: Sequence[Call]) -> Integers:
    """How many steps, of any loop, had begun before each setup."""
    pieces = [integers(piece["start_ns"]) for piece in case.run.pieces("steps", ("start_ns",))]
    starts = np.sort(np.concatenate([np.zeros(0, np.int64), *pieces]))
    return np.searchsorted(starts, [call.begin_ns for call in setups]).astype(np.int64)


def _fix(case: Case, line: SourceLine | None) -> str | None:
    if line is None or not (text := case.code.source(*line).strip()):
        return None
    return f"do `{text}` (line {line[1]}) once, before the loop that it is called in"
