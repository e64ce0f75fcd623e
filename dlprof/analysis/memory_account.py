"""What holds memory, made to agree with the engine's own account of a step: the sum is known, its parts estimated.

Shapes tell what layers give. An engine keeps more of it (masks, gates, normalised values), or less, where it computes
in place or joins operators. Where it says itself what a step holds, estimates that are in its account are brought to
it: what it has beyond them is a part of its own, and where it has less, what layers give is taken in proportion.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dlprof.analysis import memory_owners
from dlprof.analysis.engine_memory import EngineMemory
from dlprof.analysis.memory_owners import Owner
from dlprof.engines import registry
from dlprof.engines.base import StepAccount
from dlprof.schema.vocabulary import MemoryBasis, MemoryKind, SpanKind
from dlprof.store.run import Run

_LEAST_RECORDED = 0.1
"""Of what shapes tell of activations: records with less are of a peak at which they were gone."""


def of_run(run: Run, engines: Sequence[EngineMemory]) -> tuple[Owner, ...]:
    """What holds the memory of a run, by shapes and by the engine's account.

    Where it was trained with batches of several sizes, shapes are of the largest, and the account may be of another:
    then shapes are all there is.
    """
    owners = memory_owners.of_run(run)
    return settled(owners, memory_owners.recorded(run), engines) if _has_one_batch(run) else owners


def _has_one_batch(run: Run) -> bool:
    details = (json.loads(row["detail"] or "{}") for row in run.chosen("spans", "kind", (SpanKind.FIT,), ("detail",)))
    return len({one["batch_size"] for one in details if "batch_size" in one}) == 1


def settled(owners: Sequence[Owner], recorded: Sequence[Owner], engines: Sequence[EngineMemory]) -> tuple[Owner, ...]:
    """The owners, those of a step as the engine's account has them.

    Left as they are where there is no account or more than one, where the run has several models, and where a length is
    not known: nobody says then whose step it was.

    Args:
        owners: By shapes.
        recorded: By records of an allocator: activations are by layer, and replace the estimates; where no layer has
            any at the peak, or next to nothing, because that is in the update, estimates stay.
        engines: What engines told of a step.
    """
    told = [(one.step_bytes, registry.find(one.engine)) for one in engines if one.step_bytes is not None]
    models = {owner.model for owner in owners}
    if len(told) != 1 or len(models) != 1 or any(owner.bytes is None for owner in owners):
        return tuple(owners)
    ((held, spec),) = told
    if spec is None or spec.step_account is None:
        return tuple(owners)
    (model,) = models
    layers = {owner.layer for owner in owners if owner.kind == MemoryKind.ACTIVATIONS}
    exact = [
        replace(one, model=model) for one in recorded if one.kind == MemoryKind.ACTIVATIONS and one.layer in layers
    ]
    whole = sum(owner.bytes or 0 for owner in owners if owner.kind == MemoryKind.ACTIVATIONS)
    if sum(one.bytes or 0 for one in exact) < _LEAST_RECORDED * whole:
        exact = []
    kept = [one for one in owners if not exact or one.kind != MemoryKind.ACTIVATIONS]
    return _brought_to(held, [*kept, *exact], spec.step_account, model)


def _brought_to(held: int, owners: Sequence[Owner], account: StepAccount, model: int | None) -> tuple[Owner, ...]:
    covered = _sum(owners, account.kinds)
    if abs(held - covered) < account.unit_bytes:
        return _sorted(owners)
    if held > covered:
        rest = Owner(None, None, account.rest, None, held - covered, MemoryBasis.ESTIMATE, 0, model)
        return _sorted([*owners, rest])
    return _sorted(_scaled(owners, held - covered))


def _scaled(owners: Sequence[Owner], change: int) -> list[Owner]:
    """The owners, estimates of activations in proportion, so that all change by so many bytes together, or are 0."""
    estimates = [one for one in owners if one.kind == MemoryKind.ACTIVATIONS and one.how == MemoryBasis.ESTIMATE]
    whole = _sum(estimates, (MemoryKind.ACTIVATIONS,))
    share = max(0.0, 1 + change / whole) if whole else 1.0
    scaled = {id(one) for one in estimates}
    return [replace(one, bytes=round((one.bytes or 0) * share)) if id(one) in scaled else one for one in owners]


def _sum(owners: Iterable[Owner], kinds: Sequence[MemoryKind]) -> int:
    return sum(one.bytes or 0 for one in owners if one.kind in kinds)


def _sorted(owners: Iterable[Owner]) -> tuple[Owner, ...]:
    return tuple(sorted(owners, key=lambda owner: -(owner.bytes or 0)))
