"""What the rules may know of the devices of a run: how busy they were, and the gaps in which they were not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import device_time, gpu_idle, trace_phases
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.columns import Integers, integers
from dlprof.analysis.device_time import DeviceTime
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.gpu_idle import GpuIdle
from dlprof.analysis.trace_steps import Place
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import RunState, StepPart
from dlprof.store import query as sql
from dlprof.store.run import Run

IDLE_PARTS = (StepPart.DISPATCH, StepPart.HOST_PYTHON, StepPart.IDLE, StepPart.SYNC)
"""Parts of the steps in which no device runs anything, but for the wait for input."""


@dataclass(frozen=True)
class Gaps:
    """Gaps of one device by column (ns).

    Attributes:
        start: When each began.
        dur: How long it is.
        host: Before the launch that ended it.
        launch: Latency of that launch.
        wait: Launched, but held up.
        blamed: What the host did; None: not known.
    """

    start: Integers
    dur: Integers
    host: Integers
    launch: Integers
    wait: Integers
    blamed: Sequence[str | None]


class TracedDevices:
    """The devices that the kernel windows, or foreign traces, show.

    Args:
        run: The run.
        tree: Its breakdown.
    """

    def __init__(self, run: Run, tree: Breakdown) -> None:
        self._run = run
        self._tree = tree
        self.foreign = run.manifest.state == RunState.IMPORTED

    def need_devices(self) -> None:
        """Abstain where no device was traced."""
        if not self.times:
            raise Abstain("no kernel ran on a GPU")
        if self._tree.unsplit is not None or self._tree.steps is None:
            raise Abstain(f"the steps are not split: {self._tree.unsplit or 'the run had none'}")

    @cached_property
    def times(self) -> list[DeviceTime]:
        """Busy and idle time of the devices of the process that the tree is of."""
        times = device_time.of_run(self._run)
        own = [time for time in times if time.rank == self._rank and time.pid in self._pids]
        return own or [time for time in times if time.rank == self._rank] or times

    @cached_property
    def _place(self) -> Place | None:
        return trace_phases.main_place(self._run) if self.foreign else None

    @cached_property
    def _rank(self) -> int | None:
        if self._place is not None:
            return self._place.rank
        return next((time.rank for time in device_time.of_run(self._run)), None)

    @cached_property
    def _pids(self) -> tuple[int | None, ...]:
        """What devices of the process have for its number: None, where no other of its rank used any."""
        return (None,) if self._place is None else (None, self._place.pid)

    @cached_property
    def idle(self) -> list[GpuIdle]:
        """Why they were idle."""
        places = {(time.number, time.pid) for time in self.times}
        found = gpu_idle.of_run(self._run)
        return [idle for idle in found if idle.rank == self._rank and (idle.device, idle.pid) in places]

    @cached_property
    def span_ns(self) -> int:
        """Traced time of all these devices together (ns)."""
        return max(1, sum(time.span_ns for time in self.times))

    @cached_property
    def gaps(self) -> Mapping[int, Gaps]:
        """The gaps of each of these devices."""
        table = self._run.table("gpu_gaps")
        if self._rank is not None:
            table = table.filter(pc.equal(table["rank"], self._rank))
        pids = [time.pid for time in self.times if time.pid is not None]
        if pids:  # else no other process of the rank used a device
            table = table.filter(pc.is_in(table["pid"], pa.array(pids, table["pid"].type)))
        device = integers(table["device"])
        columns = [integers(table[name]) for name in ("start_ns", "dur_ns", "host_ns", "launch_ns", "wait_ns")]
        blamed = table["blamed"].to_pylist()
        found = {}
        for number in {time.number for time in self.times}:
            rows = np.flatnonzero(device == number)
            start, dur, host, launch, wait = (column[rows] for column in columns)
            found[number] = Gaps(start, dur, host, launch, wait, [blamed[row] for row in rows.tolist()])
        return found

    @property
    def roots(self) -> tuple[TreePath, ...]:
        """The places of the tree that are split as the devices were traced."""
        steps = self._tree.steps or Tree.FIT_STEPS
        return (steps, Tree.OUTSIDE_STEPS) if self.foreign else (steps,)

    def leaves(self, *parts: StepPart) -> list[TreePath]:
        """These parts of the steps."""
        return [root / part for root in self.roots for part in parts]

    def takes(
        self, available: Mapping[TreePath, int], device_ns: int, places: Sequence[TreePath]
    ) -> dict[TreePath, int]:
        """Time of the devices together, as time of the run below some places, no more than is there.

        Args:
            available: Leaf to time that may be claimed (ns).
            device_ns: Sum over these devices, in the traced time (ns).
            places: Where it is in the tree.
        """
        there = {leaf: ns for leaf, ns in available.items() if any(place.holds(leaf) for place in places)}
        whole = sum(there.values())
        wanted = self._of_run(device_ns)
        share = min(1.0, wanted / whole) if whole else 0.0
        return {leaf: int(ns * share) for leaf, ns in there.items()}

    def _of_run(self, device_ns: int) -> float:
        """Time of the devices, as time of the run: a trace shows all of it, kernel windows some steps (ns)."""
        if self.foreign:
            return device_ns / max(1, len(self.times))
        return device_ns / self.span_ns * sum(self._tree.time(root) for root in self.roots)

    def first_row(self, query: str) -> tuple[Any, ...]:
        """The first row that a query of the run's tables gives."""
        return sql.ask_own(self._run, query).rows[0]

    def name(self, number: int) -> str:
        """What a device is called: its number, and its name where it is known."""
        name = self._run.manifest.gpu_name(number)
        return f"GPU {number}" + (f" ({name})" if name else "")
