"""The loops of a run by the place in the program that runs them, and how each was found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.schema.vocabulary import Loop, SpanKind
from dlprof.store.run import Run

_KINDS = (SpanKind.FIT, SpanKind.EVALUATE, SpanKind.PREDICT, SpanKind.ON_BATCH)
_COLUMNS = ("span_id", "name", "file", "line", "kind", "detail", "start_ns")
_EPOCHS_OF_KERAS = ("fit", "fit_generator")
_TRAINING = (*_EPOCHS_OF_KERAS, "train_on_batch")
_PLACE = ("name", "how", "file", "line")


class FoundBy(StrEnum):
    """How a loop is known."""

    KERAS = "keras"
    """Keras ran it, or the script called `train_on_batch` and its kin."""
    MARKS = "marks"
    """The script's marks told it."""
    INFERRED = "inferred"
    """The script wrote it itself: it was found by its updates of weights, and its loaders."""


@dataclass(frozen=True)
class LoopSummary:
    """The loops that one line of the program ran.

    Attributes:
        name: What ran: `fit`, `train_on_batch`, `evaluate` ...; for loops of the script's own `fit` and `evaluate`.
        how: How they are known.
        file, line: Where; None: not known.
        epochs: Epochs of all of them; None: they have none.
        steps: Steps of all of them.
        runs: How often such a loop began: the folds of a cross-validation, the validations of a training.
    """

    name: str
    how: FoundBy
    file: str | None
    line: int | None
    epochs: int | None
    steps: int
    runs: int


def of_run(run: Run) -> tuple[LoopSummary, ...]:
    """The loops that have steps, in the order in which the first of each began."""
    return run.once("loops", _of_run)


def _of_run(run: Run) -> tuple[LoopSummary, ...]:
    steps = run.table("steps", ("loop_id", "loop", "count"))
    steps = steps.filter(pc.not_equal(steps["loop"].cast(pa.string()), Loop.DATA.value))
    counts = steps.group_by("loop_id").aggregate([("count", "sum")])
    epochs = run.table("epochs", ("loop_id", "epoch")).group_by("loop_id").aggregate([("epoch", "count_distinct")])
    found = _spans(run).join(counts, "span_id", "loop_id", join_type="inner").join(epochs, "span_id", "loop_id")
    sums = [("span_id", "count"), ("count_sum", "sum"), ("epoch_count_distinct", "sum"), ("start_ns", "min")]
    places = found.group_by(list(_PLACE)).aggregate(sums).sort_by("start_ns_min")
    return tuple(
        LoopSummary(
            row["name"],
            FoundBy(row["how"]),
            row["file"],
            row["line"],
            row["epoch_count_distinct_sum"],
            row["count_sum_sum"],
            row["span_id_count"],
        )
        for row in places.to_pylist()
    )


def _spans(run: Run) -> pa.Table:
    """Spans that are loops: number, name, place, begin, and how each is known."""
    spans = run.table("spans", _COLUMNS)
    spans = spans.filter(pc.is_in(spans["kind"].cast(pa.string()), pa.array([kind.value for kind in _KINDS])))
    untold = FoundBy.MARKS if run.manifest.keras is None else FoundBy.KERAS
    how = pa.array([untold.value] * spans.num_rows, pa.string())
    for one in (FoundBy.MARKS, FoundBy.INFERRED):
        told = pc.fill_null(pc.match_substring_regex(spans["detail"], rf'"how":\s*"{one.value}"'), False)
        how = pc.if_else(told, one.value, how)
    plain = {name: spans[name].cast(pa.string()) for name in ("name", "file")}
    return pa.table({**plain, "how": how, **{name: spans[name] for name in ("span_id", "line", "start_ns")}})


def are_all_of_keras(run: Run) -> bool:
    """Whether the script has no loop of its own: Keras makes all steps, if there are any."""
    return all(loop.how is FoundBy.KERAS for loop in of_run(run))


def is_any_of_keras(run: Run) -> bool:
    """Whether Keras makes the steps of some loop."""
    return any(loop.how is FoundBy.KERAS for loop in of_run(run))


def who_trains(run: Run) -> bool | None:
    """Whether Keras runs the steps of all training (`fit`), or (False) the script's own loops do; None: both, or none.

    A script that calls `train_on_batch` has a loop of its own, and Keras' steps: that is neither.
    """
    kinds = {
        (loop.how is FoundBy.KERAS, loop.name in _EPOCHS_OF_KERAS or loop.how is not FoundBy.KERAS)
        for loop in of_run(run)
        if loop.name in _TRAINING
    }
    if len(kinds) != 1:
        return None
    of_keras, whole = kinds.pop()
    return of_keras if whole else None


def fetches_inside_steps(run: Run) -> bool:
    """Whether the batches of the training are fetched inside its steps, as by Keras on TensorFlow.

    A loop of the script's own asks for its batch before the step, and waits there: what threads of the engine prepare
    during the step, nobody waits for.
    """
    return run.once("fetches inside steps", _fetches_inside_steps)


def _fetches_inside_steps(run: Run) -> bool:
    if not run.manifest.backend.input_inside_step:
        return False
    if all(loop.how is FoundBy.KERAS for loop in of_run(run)):
        return True
    steps = run.table("steps", ("loop", "input_ns"))
    waits = steps.filter(pc.equal(steps["loop"].cast(pa.string()), Loop.TRAIN.value))["input_ns"]
    return bool(2 * waits.null_count >= len(waits))
