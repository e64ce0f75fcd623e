"""What the engines' own allocators counted, where trainings of Keras ended."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dlprof.schema.vocabulary import HELD_AT_PEAK, SpanKind
from dlprof.store.run import Run

WHY_NONE = (
    "no engine told it at the end of a training of Keras (the allocators of PyTorch and TensorFlow count on GPUs "
    "only), and no allocator left records in a kernel window"
)
RECORDED = (
    "more at the peak of a traced step than at its begin (the middle one of its steps), by the records of its "
    "allocator: activations, gradients, workspace"
)
_COUNTS = ("live_bytes", "peak_bytes", "step_bytes")


@dataclass(frozen=True)
class EngineMemory:
    """What an engine counted (bytes), all its devices together; None: it does not count that.

    Attributes:
        engine: Its name.
        live_bytes: Held at the end of a training; of several the most.
        peak_bytes: The most that its allocators ever gave.
        step_bytes: What a step holds for a while: kept for its backward pass, or planned for its temporaries.
        step_how: Which of these, and who says so.
    """

    engine: str
    live_bytes: int | None
    peak_bytes: int | None
    step_bytes: int | None = None
    step_how: str | None = None


def of_run(run: Run) -> tuple[EngineMemory, ...]:
    """The engines that told it."""
    counts: dict[str, dict[str, int]] = {}
    ways: dict[str, str] = {}
    for row in run.chosen("spans", "kind", (SpanKind.FIT,), ("detail",)):
        told = json.loads(row["detail"] or "{}").get("engine_memory") or {}
        for engine, counted in told.items():
            known = counts.setdefault(engine, {})
            for name in _COUNTS:
                if name in counted:
                    known[name] = max(counted[name], known.get(name, 0))
            if "step_how" in counted:
                ways[engine] = str(counted["step_how"])
    recorded = _recorded(run)
    engine = run.manifest.engine.name if run.manifest.engine is not None else None
    if recorded and engine is not None and "step_bytes" not in counts.setdefault(engine, {}):
        counts[engine]["step_bytes"] = recorded
        ways[engine] = RECORDED
    return tuple(
        EngineMemory(
            engine, counted.get("live_bytes"), counted.get("peak_bytes"), counted.get("step_bytes"), ways.get(engine)
        )
        for engine, counted in counts.items()
    )


def _recorded(run: Run) -> int:
    """What an allocator held at the peak of a traced step, by its own records (bytes); 0: it left none."""
    rows = run.chosen("memory_owners", "name", (HELD_AT_PEAK,), ("bytes",))
    return sum(row["bytes"] or 0 for row in rows)
