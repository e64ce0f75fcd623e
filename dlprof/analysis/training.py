"""What a run was told of its training: settings, optimiser, initial weights, data, and its losses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow.compute as pc

from dlprof.analysis.loops import FoundBy
from dlprof.schema.vocabulary import SpanKind
from dlprof.store.run import Run

_CALLS = ("fit", "fit_generator", "train_on_batch")
"""Calls into Keras that train; a script without Keras names its loop after them."""
_SHORT = 5
"""Times that another training goes on longer than one that is short beside it: to try what runs, or on other data."""


@dataclass(frozen=True)
class OpenedOnce:
    """Loaders that were opened for one item each: `next(iter(...))`.

    Attributes:
        count: How many.
        line: Where the last one was opened, in the file of the loop; None: in another file.
    """

    count: int
    line: int | None


@dataclass(frozen=True)
class SameLoss:
    """Losses of which gradients were taken more than once, as of each variable by itself.

    Attributes:
        losses: How many.
        calls: How often gradients of these were taken.
        more_ns: Time of the calls but for the longest one of each loss.
        line: Where the last one was taken, in the file of the loop; None: in another file.
    """

    losses: int
    calls: int
    more_ns: int
    line: int | None


@dataclass(frozen=True)
class Zeros:
    """A large matrix that the script has at hand where it trains, and that is mostly zeros.

    Attributes:
        name: What it is called there.
        shape: Its rows and columns.
        zeros: Share of the numbers that were looked at, of one.
    """

    name: str
    shape: tuple[int, ...]
    zeros: float


@dataclass(frozen=True)
class UnusedGradients:
    """Backward passes of the script's own loop, of which some were looked at, and went through weights for nothing.

    Attributes:
        passes: That were looked at.
        partly: Of these, those that were partly for nothing.
        share: What was for nothing, by nodes of the graph, of all the time in which they were looked at; None:
            only kernels tell it.
        layers: Names of the outermost layers that have these weights alone; empty where no model was at hand.
        of_layers: How many of the passes through these were for nothing, of one.
        weights: How many.
        is_owned: An optimiser has them, and sets their gradients to nothing before it steps; else none has them.
        line: Of the call in the loop's file; None: it is elsewhere.
    """

    passes: int
    partly: int
    share: float | None
    layers: tuple[str, ...]
    of_layers: float
    weights: int
    is_owned: bool
    line: int | None


@dataclass(frozen=True)
class Padding:
    """How much of batches of whole numbers is one number that fills up the ends, or the beginnings, of their rows.

    Attributes:
        batches: How many were looked at.
        length: Columns of one, as a mean.
        in_all: Share of the columns that are filled up in all rows of their batch.
        of_rows: The same of each row by itself, as a mean.
    """

    batches: int
    length: float
    in_all: float
    of_rows: float


@dataclass(frozen=True)
class Training:
    """The main training loop of a run: the first that is not short beside another. Empty or None: not known.

    Attributes:
        settings: `floatx`, `layout`, `policy`, `run_eagerly`, `jit_compile`, `steps_per_execution`, `loss`.
        optimizer: `class` and the numbers of its configuration.
        weights: `count`, `dtype`, `sums`: size, sum and sum of squares of each weight.
        data: Shape, type and mean of the first rows of each array.
        threads: Threads of each engine, and `usable_cores`.
        flags: Switches for debugging that were on.
        batch_size: Rows of a step.
        samples: Rows of an epoch.
        losses: `loss` at the end of each epoch.
        random: Names of layers that draw random numbers while training, such as dropout.
        file, line: Where the training was started.
        opened_once: Loaders of the script's own loop that gave one item each; None: it has none, or they were not seen.
        same_loss: Losses of the script's own loop that were differentiated several times; None: likewise.
        unused_gradients: Of the script's own loop; None: all were used, or nobody looked.
        zeros: Large matrices that are mostly zeros, of a loop of the script's own.
        padding: What a few batches were filled up with; None: they have no rows of whole numbers, or were not seen.
        layers: Classes of the model's layers.
        one_hot: Columns of the one-hot arrays in what the loop is given, as far as that was looked at.
        saved_floats: Floats that a loop of the script's own keeps for its way back, by type (bytes).
        optimizer_class: Of the optimiser, also of loops of the script's own, which tell no numbers of it; None: not
            known, or only what a mark calls it.
        how: How its loop is known, where Keras did not run it: `inferred`, `marks`.
    """

    settings: Mapping[str, Any]
    optimizer: Mapping[str, Any]
    weights: Mapping[str, Any]
    data: tuple[Mapping[str, Any], ...]
    threads: Mapping[str, int]
    flags: Mapping[str, Any]
    batch_size: int | None
    samples: int | None
    losses: tuple[float, ...]
    random: tuple[str, ...]
    file: str | None
    line: int | None
    opened_once: OpenedOnce | None = None
    same_loss: SameLoss | None = None
    unused_gradients: UnusedGradients | None = None
    zeros: tuple[Zeros, ...] = ()
    padding: Padding | None = None
    layers: tuple[str, ...] = ()
    one_hot: tuple[int, ...] = ()
    saved_floats: Mapping[str, int] = field(default_factory=dict)
    optimizer_class: str | None = None
    how: str | None = None

    @property
    def place(self) -> tuple[str, int] | None:
        """(file, line) where the training was started; None: not known."""
        return (self.file, self.line) if self.file and self.line else None


_RANDOM = ("Dropout", "Noise", "Random")
_SETTINGS = ("floatx", "layout", "policy", "run_eagerly", "jit_compile", "steps_per_execution", "loss")


def of_run(run: Run) -> Training | None:
    """The main training loop; None: the run did not train, or nothing saw it."""
    loops = run.chosen("spans", "kind", (SpanKind.FIT, SpanKind.ON_BATCH))
    trainings = sorted((row for row in loops if row["name"] in _CALLS), key=lambda row: row["start_ns"])
    if not trainings:
        return None
    steady_ns = _steady_ns(run) if len(trainings) > 1 else {}
    longest_ns = max((steady_ns.get(row["span_id"], 0) for row in trainings), default=0)
    span = next(row for row in trainings if steady_ns.get(row["span_id"], 0) * _SHORT >= longest_ns)
    detail = json.loads(span["detail"] or "{}")
    told = detail.get("training") or {}
    data = tuple(array for array in detail.get("data") or () if array)
    layers = (detail.get("model") or {}).get("layers") or ()
    return Training(
        settings={name: told[name] for name in _SETTINGS if name in told},
        optimizer=told.get("optimizer") or {},
        weights=told.get("weights") or {},
        data=data,
        threads=told.get("threads") or {},
        flags=told.get("flags") or {},
        batch_size=detail.get("batch_size"),
        samples=detail.get("samples") or _rows(data),
        losses=_losses(run, span["span_id"]),
        random=tuple(layer["name"] for layer in layers if any(word in layer["class"] for word in _RANDOM)),
        file=span["file"],
        line=span["line"],
        opened_once=_opened_once(detail.get("opened_once")),
        same_loss=_same_loss(detail.get("same_loss")),
        unused_gradients=_unused(detail.get("unused_gradients")),
        zeros=tuple(Zeros(one["name"], tuple(one["shape"]), one["zeros"]) for one in told.get("zeros") or ()),
        padding=_padding(detail.get("padding")),
        layers=tuple(layer["class"] for layer in layers),
        one_hot=tuple(detail.get("one_hot") or ()),
        saved_floats=detail.get("saved_floats") or {},
        optimizer_class=_optimizer_class(detail),
        how=detail.get("how"),
    )


_STAND_INS = frozenset({"State", "Trainer", "Weights"})
"""What the probe takes for an optimiser where it sees none: what a function hands on, or what trains with any."""


def _optimizer_class(detail: Mapping[str, Any]) -> str | None:
    """The class of the optimiser: as its settings tell it, or as that of a loop which was found by its updates.

    Such a loop may be found by updates that are no optimiser's, as of a compiled function, whose name stands there
    then: names of classes begin with a capital.
    """
    told = ((detail.get("training") or {}).get("optimizer") or {}).get("class")
    if told or detail.get("how") != FoundBy.INFERRED:
        return told
    found = str(((detail.get("model") or {}).get("optimizer") or {}).get("class") or "")
    return found if found.isidentifier() and found[0].isupper() and found not in _STAND_INS else None


def other_optimizers(a: Run, b: Run) -> tuple[str, str] | None:
    """The classes of the optimisers of two runs where they differ; None: they do not, or that is not known.

    What a loop of the script's own trains with is known by the engine's own name for it, which another engine has not.
    """
    one, two = of_run(a), of_run(b)
    if one is None or two is None or one.optimizer_class is None or two.optimizer_class is None:
        return None
    if one.optimizer_class.lower() == two.optimizer_class.lower():
        return None
    engines = [run.manifest.engine.name if run.manifest.engine is not None else None for run in (a, b)]
    is_told = bool(one.optimizer and two.optimizer)
    return (one.optimizer_class, two.optimizer_class) if is_told or engines[0] == engines[1] else None


def _opened_once(told: Mapping[str, Any] | None) -> OpenedOnce | None:
    return OpenedOnce(told["count"], told["line"]) if told else None


def _same_loss(told: Mapping[str, Any] | None) -> SameLoss | None:
    return SameLoss(told["losses"], told["calls"], told["more_ns"], told["line"]) if told else None


def _unused(told: Mapping[str, Any] | None) -> UnusedGradients | None:
    if not told:
        return None
    return UnusedGradients(
        passes=told["passes"],
        partly=told["partly"],
        share=told["share"],
        layers=tuple(told["layers"]),
        of_layers=told["of_layers"],
        weights=told["weights"],
        is_owned=told["owned"],
        line=told.get("line"),
    )


def _padding(told: Mapping[str, Any] | None) -> Padding | None:
    return Padding(told["batches"], told["length"], told["in_all"], told["of_rows"]) if told else None


def _rows(data: Sequence[Mapping[str, Any]]) -> int | None:
    """Rows of the first array; None: its shape is not known."""
    shape = data[0].get("shape") if data else None
    return int(shape[0]) if shape else None


def _steady_ns(run: Run) -> dict[int, int]:
    """Time of the steps of each loop in which nothing was compiled (ns)."""
    sums: dict[int, int] = {}
    for piece in run.pieces("steps", ("loop_id", "dur_ns", "compiled")):
        plain = piece.filter(pc.invert(pc.fill_null(piece["compiled"], fill_value=False)))
        for row in plain.group_by("loop_id").aggregate([("dur_ns", "sum")]).to_pylist():
            sums[row["loop_id"]] = sums.get(row["loop_id"], 0) + row["dur_ns_sum"]
    return sums


def _losses(run: Run, loop: int) -> tuple[float, ...]:
    of_epochs = (row for row in run.chosen("metrics", "loop_id", (loop,)) if row["step"] is None)
    losses = [row for row in of_epochs if row["name"] == "loss"]
    return tuple(row["value"] for row in sorted(losses, key=lambda row: row["epoch"] or 0))
