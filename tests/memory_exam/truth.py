"""Bytes and operations that dlprof tells of a training, beside arithmetic and beside what engines count themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.memory_exam import traced
from tests.memory_exam.arithmetic import MODELS, Known

COLUMNS = (
    "model", "floats", "backend", "parameters", "gradients", "slots", "operations / formula", "products / engine's",
    "activations", "told", "engine's account", "told / account", "table / account",
)  # fmt: skip
_SCRIPT = traced.ROOT / "tests" / "memory_exam" / "scripts" / "truth.py"
_BATCH = {"resnet50": 2}
_USUAL_BATCH = 32
_SIZES = {"float16": 2, "float32": 4, "float64": 8}
_SCALARS = 256
"""Bytes of counters and rates that optimisers keep beside their slots, at most."""
_BACKENDS = ("torch", "jax", "tensorflow", "mxnet")
_IN_ACCOUNT = {
    "torch": ("activations", "input"),
    "jax": ("activations", "gradients", "workspace"),
    "tensorflow": ("activations", "gradients", "workspace"),
    "mxnet": ("activations", "workspace"),
}
"""Kinds of the table that an engine's account is the sum of."""
_UNITS = {"mxnet": 1 << 20}
"""Bytes that an engine's account is told in whole multiples of."""
_MORE = 1.05


@dataclass(frozen=True)
class Case:
    """A model, a type of floats and a backend."""

    model: str
    floats: str
    backend: str

    @property
    def key(self) -> str:
        """Its name in commands, and its folder's."""
        return f"{self.model}-{self.floats}-{self.backend}"


def all_of_them() -> Iterator[Case]:
    """What each backend can do.

    MXNet has no Transformer of Keras, JAX no 64 bits unless asked and no attention of 16 bits on CPUs; Keras draws no
    orthogonal matrix of 16 bits for an LSTM.
    """
    for model in MODELS:
        for backend in _BACKENDS:
            if (model, backend) != ("transformer", "mxnet"):
                yield Case(model, "float32", backend)
    yield from (Case(model, "float16", backend) for model in ("mlp", "cnn") for backend in _BACKENDS[:3])
    for backend in ("torch", "tensorflow", "mxnet"):
        yield from (Case(model, "float64", backend) for model in ("mlp", "cnn", "lstm"))
    for floats in ("float16", "float64"):
        yield from (Case("transformer", floats, backend) for backend in ("torch", "tensorflow"))


def row(case: Case, work: Path) -> tuple[str, ...]:
    """One case, as a row of the table."""
    batch, known = _BATCH.get(case.model, _USUAL_BATCH), MODELS[case.model]()
    done = traced.run(work / case.key, _SCRIPT, case.backend, arguments=(case.model, case.floats, str(batch)))
    head = (case.model, case.floats, case.backend)
    if done.code:
        return (*head, f"the script failed: {done.err.strip().splitlines()[-1][:200]}", *[""] * 9)
    counted = json.loads(done.out.strip().splitlines()[-1])
    memory, work_done = done.told("memory"), done.told("kernels", "--roofline")
    held = _by_kind(memory["owners"])
    exact = sum(one["flops"] or 0 for one in work_done["layers"] if one["how"] == "exact")
    return (
        *head,
        *_held(held, known, _SIZES[case.floats]),
        f"{exact / (known.flops * batch):.4f}",
        f"{exact / counted['flops']:.3f}" if counted.get("flops") else "it counts none",
        *_kept(memory, held, counted, case.backend),
    )


def _by_kind(owners: list[dict[str, Any]]) -> dict[str, int]:
    kinds: dict[str, int] = {}
    for one in owners:
        kinds[one["kind"]] = kinds.get(one["kind"], 0) + (one["bytes"] or 0)
    return kinds


def _held(held: dict[str, int], known: Known, size: int) -> Iterator[str]:
    for kind, expected, more in (
        ("parameters", known.parameters * size, 0),
        ("gradients", known.trained * size, 0),
        ("optimizer", known.slots * known.trained * size, _SCALARS),
    ):
        away = held.get(kind, 0) - expected
        yield "exact" if 0 <= away <= more else f"{held.get(kind, 0):,} for {expected:,}"


def _kept(memory: dict[str, Any], held: dict[str, int], counted: dict[str, Any], backend: str) -> Iterator[str]:
    account, unit = counted["account"], _UNITS.get(backend, 1)
    told = next((one["step_bytes"] for one in memory["engines"] if one.get("step_bytes") is not None), None)
    yield f"{held.get('activations', 0) / 1e6:.2f}"
    yield "nothing" if told is None else f"{told / 1e6:.2f}"
    yield f"{account / 1e6:.2f}"
    yield "-" if told is None else _share(told, account, unit)
    whole = sum(held.get(kind, 0) for kind in _IN_ACCOUNT[backend])
    later = held.get("gradients", 0) if "gradients" in _IN_ACCOUNT[backend] else 0
    if later and whole > account * _MORE:
        yield f"{_share(whole - later, account, unit)} without gradients"  # which come when activations have gone
    else:
        yield _share(whole, account, unit)


def _share(part: int, whole: int, unit: int) -> str:
    return "within its unit" if unit > 1 and abs(part - whole) < unit else f"{part / whole:.3f}"
