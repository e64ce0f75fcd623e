"""Runs of ranks out of literal rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.pipeline import ranked
from dlprof.store.ranked import RankedRun
from tests.unit import runs
from tests.unit.runs import MS, S

STEPS = 40


def told(rank: int, world: int = 2, /, **changes: Any) -> dict[str, Any]:
    """The manifest of a rank of train.py; `clock` of its machine began with the others'."""
    anchor = {"perf_ns": rank * S, "wall_ns": 10**18 + rank * S, "width_ns": 0}
    clock = {"origin_perf_ns": rank * S, "anchor_start": anchor}
    return runs.manifest(**{"rank": {"rank": rank, "world": world, "by": "RANK"}, "clock": clock, **changes})


def far(rank: int, offset_ns: int, *, host: str = "other") -> dict[str, Any]:
    """Changes of the manifest of a rank on another machine, whose wall clock shows so much more."""
    zero = 77 * S + rank * S
    anchor = {"perf_ns": zero, "wall_ns": 10**18 + rank * S + offset_ns, "width_ns": 0}
    machine = {"host": host, "cores": 2, "usable_cores": 2}
    return {"machine": machine, "clock": {"origin_perf_ns": zero, "anchor_start": anchor}}


def collectives(rank: int, own_ms: float, last_ms: float, *, dur_ms: float = 20.0) -> list[dict[str, Any]]:
    """One in each step of `runs.steps`: the rank comes after `own_ms`, the last one after `last_ms`; 1 ms of transfer.

    Ranks begin a second after each other, each on a timeline of its own: their steps begin at the same moments.
    """
    return [
        {
            "kind": "backward",
            "process_group": "0",
            "ordinal": number,
            "start_ns": int((2 - rank) * S + (number * dur_ms + own_ms) * MS),
            "dur_ns": int((last_ms - own_ms + 1) * MS),
            "blocked_ns": int((last_ms - own_ms + 1) * MS),
            "bytes": 400,
            "rank": rank,
        }
        for number in range(STEPS)
    ]


def reductions(rank: int, each: int, size: int, kind: str = "backward") -> list[dict[str, Any]]:
    """So many of so many bytes in each step of 20 ms, all in the last 8 ms of it."""
    return [
        {
            "kind": kind, "process_group": "0", "ordinal": number * each + one, "bytes": size, "rank": rank,
            "start_ns": int((2 - rank) * S + (20 * number + 12) * MS + one * 8 * MS // each),
            "dur_ns": 8 * MS // each, "blocked_ns": 8 * MS // each,
        }
        for number in range(STEPS)
        for one in range(each)
    ]  # fmt: skip


def steps(rank: int, **changes: Any) -> list[dict[str, Any]]:
    """Its steps of 20 ms, with nothing between them."""
    return [{**one, "rank": rank} for one in runs.steps(STEPS, start_s=2.0 - rank, dur_ms=20.0, **changes)]


def make(folder: Path, own_ms: dict[int, float], *, world: int | None = None, **changes: Any) -> RankedRun:
    """A folder of ranks, opened: rank to its own work in a step (ms).

    Args:
        folder: Where.
        own_ms: Of each rank that there is.
        world: How many there were to be; None: these.
        changes: By rank (`rank_1`), of manifest (`told`) and tables.
    """
    count = world or len(own_ms)
    for rank, own in own_ms.items():
        given = dict(changes.get(f"rank_{rank}", {}))
        manifest = told(rank, count, **given.pop("told", {}))
        tables = {"steps": steps(rank), "collectives": collectives(rank, own, max(own_ms.values())), **given}
        runs.trained(folder / f"rank-{rank:03d}", manifest, **tables)
    shared = {**runs.manifest(), "ranked": {"world": count}, "tables_version": 0}
    (folder / "manifest.json").write_text(json.dumps(shared))
    found = ranked.find(str(folder))
    assert found is not None
    return found
