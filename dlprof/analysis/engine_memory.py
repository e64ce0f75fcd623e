"""What the engines' own allocators counted, where trainings of Keras ended."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dlprof.schema.vocabulary import SpanKind
from dlprof.store.run import Run

WHY_NONE = (
    "no engine told it at the end of a training of Keras: the allocators of PyTorch and TensorFlow count on GPUs only, "
    "that of MXNet nowhere"
)


@dataclass(frozen=True)
class EngineMemory:
    """What an engine counted (bytes), all its devices together; None: it does not count that.

    Attributes:
        engine: Its name.
        live_bytes: Held at the end of a training; of several the most.
        peak_bytes: The most that its allocators ever gave.
    """

    engine: str
    live_bytes: int | None
    peak_bytes: int | None


def of_run(run: Run) -> tuple[EngineMemory, ...]:
    """The engines that told it."""
    counts: dict[str, dict[str, int]] = {}
    for row in run.chosen("spans", "kind", (SpanKind.FIT,), ("detail",)):
        told = json.loads(row["detail"] or "{}").get("engine_memory") or {}
        for engine, counted in told.items():
            known = counts.setdefault(engine, {})
            for name, value in counted.items():
                known[name] = max(value, known.get(name, 0))
    return tuple(
        EngineMemory(engine, counted.get("live_bytes"), counted.get("peak_bytes")) for engine, counted in counts.items()
    )
