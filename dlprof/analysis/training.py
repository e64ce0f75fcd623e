"""What a run was told of its training: settings, optimiser, initial weights, data, and its losses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dlprof.store.run import Run

TRAINING = ("fit", "fit_generator", "train_on_batch")


@dataclass(frozen=True)
class Training:
    """The first training loop of a run. Empty or None: not known.

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

    @property
    def place(self) -> tuple[str, int] | None:
        """(file, line) where the training was started; None: not known."""
        return (self.file, self.line) if self.file and self.line else None


_RANDOM = ("Dropout", "Noise", "Random")
_SETTINGS = ("floatx", "layout", "policy", "run_eagerly", "jit_compile", "steps_per_execution", "loss")


def of_run(run: Run) -> Training | None:
    """The first training loop; None: the run did not train, or nothing saw it."""
    spans = [row for row in run.rows("spans") if row["kind"] in ("fit", "on_batch") and row["name"] in TRAINING]
    if not spans:
        return None
    span = min(spans, key=lambda row: row["start_ns"])
    detail = json.loads(span["detail"] or "{}")
    told = detail.get("training") or {}
    data = tuple(one for one in detail.get("data") or () if one)
    layers = (detail.get("model") or {}).get("layers") or ()
    return Training(
        settings={name: told[name] for name in _SETTINGS if name in told},
        optimizer=told.get("optimizer") or {},
        weights=told.get("weights") or {},
        data=data,
        threads=told.get("threads") or {},
        flags=told.get("flags") or {},
        batch_size=detail.get("batch_size"),
        samples=detail.get("samples") or (data[0]["shape"][0] if data and data[0].get("shape") else None),
        losses=_losses(run, span["span_id"]),
        random=tuple(one["name"] for one in layers if any(word in one["class"] for word in _RANDOM)),
        file=span["file"],
        line=span["line"],
    )


def _losses(run: Run, loop: int) -> tuple[float, ...]:
    rows = [r for r in run.rows("metrics") if r["loop_id"] == loop and r["step"] is None and r["name"] == "loss"]
    return tuple(row["value"] for row in sorted(rows, key=lambda row: row["epoch"] or 0))
