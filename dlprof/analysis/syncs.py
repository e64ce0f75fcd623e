"""Where the program asks for values of the device, and how long it stands there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from dlprof.engines import registry
from dlprof.schema.vocabulary import Loop, RunState
from dlprof.store.run import Run


@dataclass(frozen=True, kw_only=True)
class SyncPlace:
    """Calls of one kind in one line of the user's own code.

    Attributes:
        what: What is called: `item()`, `float()`, `numpy()`, `block_until_ready()` ...
        file, line: Where.
        calls: How often.
        ns: Time inside of them, all threads together (ns): the wait, where the device has not got as far, and the copy.
        share: Of the wall time; None: that is not known.
        calls_per_step: Calls for each train step between the first and the last of them; None: there was none.
    """

    what: str
    file: str
    line: int
    calls: int
    ns: int
    share: float | None = None
    calls_per_step: float | None = None


def of_run(run: Run) -> tuple[SyncPlace, ...] | None:
    """The places of a run, those that took longest first; None: they were not counted (`unknown` says why)."""
    if unknown(run) is not None:
        return None
    rows = run.rows("syncs")
    counted = _Steps(run) if rows else None
    places = [_place(row, run.wall_ns, counted) for row in rows]
    return tuple(sorted(places, key=lambda one: (-one.ns, one.file, one.line, one.what)))


def unknown(run: Run) -> str | None:
    """Why they were not counted, as a clause; None: they were."""
    if run.manifest.state == RunState.IMPORTED:
        return "the run was imported"
    counted, engine = run.manifest.syncs_of, run.manifest.engine
    if engine is None:
        return "no engine was seen whose values the program could ask for"
    if counted is None:
        return "no probe was in the process that counts them"
    if engine.name not in counted:
        spec = registry.find(engine.name, engine.version)
        return f"calls that ask {spec.title if spec is not None else engine.name} for a value are not hooked"
    return run.missing("syncs")


def _place(row: dict[str, Any], wall_ns: int | None, counted: _Steps | None) -> SyncPlace:
    steps = counted.between(row["start_ns"], row["end_ns"]) if counted is not None else 0
    return SyncPlace(
        what=row["what"],
        file=row["file"],
        line=row["line"],
        calls=row["calls"],
        ns=row["dur_ns"],
        share=row["dur_ns"] / wall_ns if wall_ns else None,
        calls_per_step=row["calls"] / steps if steps else None,
    )


class _Steps:
    """The train steps of a run: how many lie, with a part of theirs, in a stretch of time."""

    def __init__(self, run: Run) -> None:
        table = run.table("steps", ("loop", "start_ns", "dur_ns", "count"))
        table = table.filter(pc.equal(table["loop"].cast("string"), Loop.TRAIN)).sort_by("start_ns")
        self._starts = table["start_ns"].to_numpy()
        self._ends = np.maximum.accumulate(self._starts + table["dur_ns"].to_numpy())
        self._sums = np.concatenate(([0], np.cumsum(table["count"].to_numpy())))

    def between(self, start_ns: int, end_ns: int) -> int:
        """Steps that end after `start_ns` and begin before `end_ns`."""
        low = int(np.searchsorted(self._ends, start_ns, "right"))
        high = int(np.searchsorted(self._starts, end_ns, "left"))
        return int(self._sums[max(low, high)] - self._sums[low])
