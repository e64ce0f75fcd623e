"""What holds memory, as far as shapes of models tell: by layer, direction and kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.schema.vocabulary import HELD_AT_PEAK, MemoryBasis, MemoryKind
from dlprof.store.run import Run


@dataclass(frozen=True)
class Owner:
    """Something that holds memory.

    Attributes:
        layer: Null where it is of no layer.
        direction: In which it is used: forward, backward, update; None: it is there all the time.
        kind: What it is held for.
        device: Where it is, as the engine calls it; None: not told.
        bytes: How much; None: not known, because a length of its shape is not.
        how: Whether arrays were looked at, or this is an estimate from shapes.
        count: How many variables and arrays it is.
        model: Number of the model in the run; None: of no model.
    """

    layer: str | None
    direction: str | None
    kind: MemoryKind
    device: str | None
    bytes: int | None
    how: MemoryBasis
    count: int
    model: int | None


def of_run(run: Run) -> tuple[Owner, ...]:
    """All owners that shapes tell of, those of most bytes first."""
    return _owners(row for row in run.rows("memory_owners") if row["name"] != HELD_AT_PEAK)


def recorded(run: Run) -> tuple[Owner, ...]:
    """What an allocator held at the peak of a traced step, by its own records; those of most bytes first."""
    return _owners(row for row in run.rows("memory_owners") if row["name"] == HELD_AT_PEAK)


def _owners(rows: Iterable[Mapping[str, Any]]) -> tuple[Owner, ...]:
    found: dict[tuple[int | None, str | None, str | None, str, str | None, str], list[tuple[int | None, int]]] = {}
    for row in rows:
        key = (row["model"], row["layer"], row["direction"], row["kind"], row["device"], row["how"])
        found.setdefault(key, []).append((row["bytes"], row["count"] or 1))
    owners = []
    for (model, layer, direction, kind, device, how), parts in found.items():
        count = sum(each for _, each in parts)
        owners.append(Owner(layer, direction, MemoryKind(kind), device, _sum(parts), MemoryBasis(how), count, model))
    return tuple(sorted(owners, key=lambda owner: -(owner.bytes or 0)))


def _sum(parts: Iterable[tuple[int | None, int]]) -> int | None:
    """All together; None where one of them is not known."""
    known = [each for each, _ in parts]
    return None if None in known else sum(each for each in known if each is not None)


def by_kind(owners: Sequence[Owner]) -> dict[MemoryKind, int | None]:
    """Bytes of each kind; None where a part of one is not known."""
    kinds = dict.fromkeys(kind for kind in MemoryKind if any(owner.kind == kind for owner in owners))
    return {kind: _sum([(owner.bytes, 1) for owner in owners if owner.kind == kind]) for kind in kinds}


def how(owners: Iterable[Owner]) -> MemoryBasis | None:
    """How bytes of some owners together were got: exact where those of each are; None: there are no owners."""
    ways = {owner.how for owner in owners}
    if not ways:
        return None
    return MemoryBasis.EXACT if ways == {MemoryBasis.EXACT} else MemoryBasis.ESTIMATE
