"""The loader that a training is fed by: how busy its workers were, what the training waited for it, and what others do.

What other settings would save is a model of three limits: the rest of a step, the work on a batch shared by the
workers, and the cores that work and steps share. Sleeping work (files, sockets) needs no core, work that computes does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import integers
from dlprof.analysis.findings.calls import Interval
from dlprof.analysis.findings.finding import Abstain, SourceLine
from dlprof.analysis.findings.machine_load import MachineLoad
from dlprof.analysis.input_pipeline import InputPipeline
from dlprof.analysis.loaders import Loader, Pass
from dlprof.analysis.scheduling import growth_over_threads
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import InputStage
from dlprof.store.run import Run

MOST_SLEEPING = 16
"""More workers than this are not advised for work that sleeps: they need memory, too."""
_COMPUTES = 0.25
"""Share of the work on batches that could use a core, from which on it is work that computes."""
_START_NS = 20_000_000
"""To start a worker process and to stop it, where the run has none: by forking, as measured on two cores."""
_SLACK = 1.1
"""By so much workers must be faster than the steps: batches do not take equally long."""
_LATE_NS = 50_000_000
"""A worker that imports before its first batch takes longer than this; one that is forked does not."""
_LEAST_STEPS = 8
_LEAST_SEEN_NS = 300_000_000
"""Workers that were seen for less than this say nothing."""


class _Threads(NamedTuple):
    """Threads of the program between the first and the last sample of a training (ns; `part`: share of it)."""

    window: int
    part: float
    run: int
    wait: int
    main_run: int
    main_wait: int


@dataclass(frozen=True)
class InputLoad:
    """A training and its loader.

    Attributes:
        run: The run.
        pipeline: Its loader and workers.
        waits: What the training waited for its input, by leaf of the tree (ns); empty where that is usual.
        loop_ns: Steps, waits for input and callbacks of the training (ns).
        span: When it trained.
        machine: The machine meanwhile.
        stands: For how much of its steps the thread that trains may stand, while threads of the engine's own compute:
            0 to 1.
    """

    run: Run
    pipeline: InputPipeline
    waits: Mapping[TreePath, int]
    loop_ns: int
    span: Interval
    machine: MachineLoad
    stands: float = 0.0

    @property
    def loader(self) -> Loader:
        """The loader."""
        return self.pipeline.loader

    @cached_property
    def passes(self) -> tuple[Pass, ...]:
        """Those that gave something; a look at the first batch before a training is one of its passes."""
        return tuple(one for one in self.loader.passes if one.items)

    @property
    def waited_ns(self) -> int:
        """What the training waited (ns)."""
        return sum(self.waits.values())

    @property
    def rest_ns(self) -> int:
        """The training without its waits (ns)."""
        return max(1, self.loop_ns - self.waited_ns)

    @property
    def cores(self) -> int:
        """Cores that processes can use."""
        return self.machine.usable_cores

    @property
    def item_line(self) -> SourceLine | None:
        """The user's line in which most of the work on batches was done."""
        lines = self.pipeline.lines
        return (lines[0].file, lines[0].line) if lines else None

    # -- work ------------------------------------------------------------------------------------------

    def busy_shares(self) -> list[float]:
        """How busy each worker was.

        Raises:
            Abstain: They were not sampled for long enough.
        """
        seen = [(one.busy, one.sampled_ns) for one in self.pipeline.workers]
        if not seen or any(busy is None or ns < _LEAST_SEEN_NS for busy, ns in seen):
            raise Abstain("the workers of the loader were hardly sampled: how busy they were is not known")
        return [busy for busy, _ in seen if busy is not None]

    @property
    def is_seen(self) -> bool:
        """Whether it is known how busy the workers were; of those that are asked in the thread itself, that is all."""
        try:
            return not self.loader.workers or bool(self.busy_shares())
        except Abstain:
            return False

    @cached_property
    def busy_ns(self) -> int:
        """Time of work on batches, of all workers together; without workers that of the thread that asks (ns).

        Raises:
            Abstain: It is not known.
        """
        if not self.loader.workers:
            return sum(one.waited_ns for one in self.passes)
        shares = self.busy_shares()
        return int(sum(shares) / len(shares) * self.alive_ns)

    @cached_property
    def alive_ns(self) -> int:
        """For how long workers were there, all together (ns)."""
        if self.loader.processes:
            last = self.run.wall_ns or self.span[1]
            return sum((one.end_ns or last) - one.start_ns for one in self.loader.processes)
        return self.loader.workers * sum(one.end_ns - one.start_ns for one in self.passes)

    @cached_property
    def computing(self) -> float:
        """Share of the work on batches that has a core where nobody else wants one; in the rest it sleeps.

        Time that it could have run, and had no core, says nothing of what it is.

        Raises:
            Abstain: It is not known.
        """
        ran, slept = self._ran_and_slept
        return ran / max(1.0, ran + slept)

    @cached_property
    def _ran_and_slept(self) -> tuple[float, float]:
        return self._of_processes() if self.loader.processes else self._of_threads()

    @property
    def computes(self) -> bool:
        """Whether it is work that computes, rather than waits for something; where nobody knows, that it does."""
        return self.computing > _COMPUTES

    @property
    def kind(self) -> str:
        """That as words; empty: nobody knows, for the thread that makes the batches stands for other reasons, too."""
        is_sure = not (self.stands and self._asks_itself) or self._stood_ns < (1 - _COMPUTES) * self.busy_ns
        if self.computes and not is_sure:
            return ""
        return "which computes" if self.computes else "which mostly sleeps or waits for files"

    def _of_processes(self) -> tuple[float, float]:
        """What work on batches ran and slept, in processes (ns)."""
        known = [one for one in self.loader.processes if one.cpu_ns is not None]
        if not known:
            raise Abstain("the CPU time of the workers was not measured")
        ran = sum(one.cpu_ns or 0 for one in known)
        waited = sum((one.cpu_ns or 0) * self._waiting.get(one.pid, 0.0) for one in known)
        return float(ran), max(0.0, self.busy_ns - ran - waited)

    @cached_property
    def _waiting(self) -> Mapping[int, float]:
        """Worker process to how long it waited for a core for each moment that it had one, as last seen."""
        pids = pa.array([one.pid for one in self.loader.processes], pa.int32())
        columns = ("pid", "time_ns", "main_run_ns", "main_wait_ns")
        keep = self.run.filtered("process_samples", columns, lambda piece: pc.is_in(piece["pid"], pids))
        rows = keep.filter(pc.is_valid(keep["main_run_ns"])).sort_by("time_ns").to_pylist()
        return {row["pid"]: (row["main_wait_ns"] or 0) / row["main_run_ns"] for row in rows if row["main_run_ns"]}

    def _of_threads(self) -> tuple[float, float]:
        """What work on batches ran and slept, in threads of the program itself (ns)."""
        seen = self._threads
        if self._asks_itself:
            slept = min(float(self.busy_ns), max(0.0, self._stood_ns - self.stands * self.rest_ns))
            return (self.busy_ns - slept) * seen.main_run / max(1, seen.main_run + seen.main_wait), slept
        ran = min(float(self.busy_ns), max(0.0, seen.run / seen.part - self.rest_ns))
        return ran, max(0.0, self.busy_ns - ran - ran * seen.wait / max(1, seen.run))

    @property
    def _stood_ns(self) -> float:
        """For how long the thread that trains neither ran nor wanted to (ns)."""
        seen = self._threads
        return max(0, seen.window - seen.main_run - seen.main_wait) / seen.window * (self.span[1] - self.span[0])

    @cached_property
    def _threads(self) -> _Threads:
        columns = ("run_ns", "wait_ns", "main_run_ns", "main_wait_ns")
        rows = self.machine.process_samples(*columns)
        if rows.num_rows < 2:
            raise Abstain("the scheduling of threads was sampled less than twice during the training")
        time = integers(rows["time_ns"])
        window = max(1, int(time[-1] - time[0]))
        part = min(1.0, window / max(1, self.span[1] - self.span[0]))
        run, wait, main_run, main_wait = (growth_over_threads(integers(rows[name].fill_null(0))) for name in columns)
        return _Threads(window, part, run, wait, main_run, main_wait)

    @property
    def _asks_itself(self) -> bool:
        """Whether the thread that trains makes the batches, one after the other, and not one beside it."""
        return not self.loader.workers and self.rest_ns + self.busy_ns <= 1.2 * self.loop_ns

    @property
    def holds_one_core(self) -> bool:
        """Whether workers are threads whose Python code runs one at a time, as it computes."""
        if not self.loader.workers or self.loader.uses_processes:
            return False
        return self.needs_ns > 0.6 * self.loop_ns

    @property
    def needs_ns(self) -> int:
        """CPU time that work on batches needs (ns)."""
        return int(self._ran_and_slept[0])

    @property
    def work_ns(self) -> int:
        """Time of work on batches, but for what it waited for a core (ns)."""
        return int(sum(self._ran_and_slept))

    # -- beginnings and ends -----------------------------------------------------------------------------

    @property
    def starts_ns(self) -> int:
        """Time of all calls that began passes and ended them (ns)."""
        return sum(one.open_ns + (one.last_wait_ns or 0) for one in self.passes)

    @property
    def first_waits_ns(self) -> int:
        """Waits for the first batch of each pass (ns)."""
        return sum(one.first_wait_ns or 0 for one in self.passes)

    def calls_of_restarts_ns(self) -> int:
        """Calls that begin passes but the first, and end all but the last: what lasting workers would not need (ns)."""
        opened = sum(one.open_ns for one in self.passes[1:])
        return opened + sum(one.last_wait_ns or 0 for one in self.passes[:-1])

    def restarts_ns(self) -> int:
        """The same, with what first batches come late by, while workers that were just started import (ns)."""
        return self.calls_of_restarts_ns() + sum(map(self._late_ns, self.passes[1:]))

    def starting_share(self) -> float:
        """Share of the waits for batches in which workers that were just started had none to give: 0 to 1."""
        return min(1.0, sum(map(self._late_ns, self.passes)) / max(1, sum(one.waited_ns for one in self.passes)))

    def _late_ns(self, one: Pass) -> int:
        """By how much the first batch of a pass came later than a worker needs for one (ns); 0: that is not known.

        Each of them has as many turns of the loop for it as there are workers, at most.
        """
        workers = self.loader.workers
        if not (workers and self.loader.uses_processes) or one.items <= workers + 1 or one.first_wait_ns is None:
            return 0
        others = one.end_ns - one.opened_ns - one.first_wait_ns - (one.last_wait_ns or 0)
        late = one.first_wait_ns - workers * others // (one.items - 1)
        return late if late >= _LATE_NS else 0

    # -- what other settings would do --------------------------------------------------------------------

    def loop_with(self, workers: int, *, processes: bool = True) -> int:
        """How long the training would take with so many workers that last (ns)."""
        cores = self.cores if processes else 1
        needs = self.needs_ns
        limits = (
            self.rest_ns,
            int(_SLACK * self.work_ns) // workers,
            needs // cores,
            (needs + self._rest_cpu_ns) // self.cores,
        )
        return max(limits) + (workers * _START_NS if processes else 0)

    @cached_property
    def _rest_cpu_ns(self) -> int:
        """CPU time of the training but for its input (ns); one core where it was not measured."""
        try:
            pct = self.machine.scheduling.tree_pct
        except Abstain:
            return self.rest_ns
        whole = int(pct / 100 * (self.span[1] - self.span[0]))
        return max(0, min(whole - self.needs_ns, self.cores * self.rest_ns))

    def best_workers(self, *, processes: bool = True, least: int = 1) -> int:
        """The fewest workers, but for `least`, that come close to what the best number would save."""
        most = max(self.cores, 2) if self.computes else MOST_SLEEPING
        now = self.loop_ns
        saved = {count: now - self.loop_with(count, processes=processes) for count in range(least, most + 1)}
        best = max(saved.values())
        return next(count for count, ns in saved.items() if ns >= 0.95 * best)

    def needed_workers(self) -> int:
        """How many keep up with the training."""
        return max(1, math.ceil(_SLACK * self.work_ns / self.rest_ns))

    # -- waits -----------------------------------------------------------------------------------------

    def takes(self, ns: float) -> dict[TreePath, int]:
        """So much of the waits, in proportion (ns)."""
        share = min(1.0, max(0.0, ns / max(1, self.waited_ns)))
        return {leaf: int(share * one) for leaf, one in self.waits.items()}

    def bursts_ns(self, waited: npt.NDArray[np.int64]) -> int:
        """Waits of the few steps that wait long while most do not: a longer queue would even that out (ns).

        Args:
            waited: What each step waited (ns). The longest, one for each epoch, are those for its first batch.
        """
        begins = max(len(self.passes), self.run.count("epochs"))
        later = np.sort(waited)[: max(0, len(waited) - begins)]
        if len(later) < _LEAST_STEPS or not later.sum():
            return 0
        tail = int(later[-max(1, len(later) // 4) :].sum())
        return tail if tail >= 0.7 * later.sum() and np.median(later) <= 0.25 * later.mean() else 0

    def resting_share(self) -> float:
        """Share of the workers' time in which they had nothing to do.

        Raises:
            Abstain: They were not sampled for long enough.
        """
        shares = self.busy_shares()
        return 1 - sum(shares) / len(shares)

    @property
    def stages(self) -> Mapping[InputStage, float]:
        """Share of each kind of work on the batches, by the samples; empty: not known."""
        makers = [one for one in (*self.pipeline.workers, self.pipeline.calling) if one is not None]
        kinds = (InputStage.READING, InputStage.DECODING, InputStage.MAKING, InputStage.COLLATING)
        times = {kind: sum(one.stood_ns(kind) for one in makers) for kind in kinds}
        whole = sum(times.values())
        return {kind: ns / whole for kind, ns in times.items()} if whole else {}

    def stages_text(self) -> str:
        """Of what the work on a batch consists: `reading 60 %, decoding 30 %`; empty: not known."""
        return ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in self.stages.items() if share >= 0.05)
