"""The machine while a run trained: cores, other programs, counters of the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import scheduling
from dlprof.analysis.columns import Floats, Integers, integers
from dlprof.analysis.findings.calls import Interval
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.scheduling import AROUND_NS, Threads
from dlprof.analysis.stretches import Stretches
from dlprof.analysis.training import Training
from dlprof.store.run import Run


@dataclass(frozen=True)
class Scheduling(Threads):
    """The traced process on the machine's cores over a stretch of time.

    Attributes:
        others_pct: What other programs used, in percent of one core.
        tree_pct: What the process and its children used, in percent of one core.
    """

    others_pct: float
    tree_pct: float


class MachineLoad:
    """Samples of the machine and of the process.

    Args:
        run: The run.
        training_span: When it trained.
        training: What it was told of its training.
    """

    def __init__(self, run: Run, training_span: Interval, training: Training | None) -> None:
        self._run = run
        self._span = training_span
        self._training = training

    @cached_property
    def usable_cores(self) -> int:
        """Cores that the process might use at the same time, by its affinity and the quota of its control group."""
        return self._run.manifest.machine.at_once(self.bound_cores) or 1

    @property
    def bound_cores(self) -> int:
        """The same by its affinity alone."""
        machine = self._run.manifest.machine
        told = self._training.threads.get("usable_cores") if self._training else None
        return int(told or machine.usable_cores or machine.cores or 1)

    @property
    def cores(self) -> int:
        """Cores that there are, as the system counts them."""
        return self._run.manifest.machine.cores or self.usable_cores

    @property
    def computing_cores(self) -> int:
        """Cores that threads of one computation could use: what two share counts once, and a quota holds."""
        machine = self._run.manifest.machine
        return machine.at_once(min(self.cores, machine.physical_cores or self.cores)) or 1

    def free_cores(self, cores: int) -> float:
        """How many of so many cores neither the process nor others used while it trained; none beyond its quota."""
        seen = self.scheduling
        own = seen.tree_pct / 100
        quota = self._run.manifest.machine.quota_cores
        free = cores - own - seen.others_pct / 100
        return free if quota is None else min(free, quota - own)

    @cached_property
    def scheduling(self) -> Scheduling:
        """The process on the cores while it trained.

        Abstains where the machine was not sampled often enough.
        """
        seen = scheduling.threads(self._run, self._span)
        if seen is None:
            raise Abstain("the scheduling of threads was sampled less than twice during the training")
        return Scheduling(seen.run_ns, seen.wait_ns, self._mean_of_machine("others_cpu_pct"), self._tree_pct())

    @property
    def with_a_core(self) -> float:
        """Share of the runnable time that threads had a core while it trained; all of it where that was not sampled."""
        try:
            return 1 - self.scheduling.waiting
        except Abstain:
            return 1.0

    def process_samples(self, column: str, *more: str, around_ns: int = AROUND_NS) -> pa.Table:
        """Samples of the traced process, without its children, around the training, where a column was measured.

        They have the columns `pid` and `time_ns`, that one, and those that are named besides.
        """
        return scheduling.process_samples(self._run, self._span, column, *more, around_ns=around_ns)

    def busy_pct(self, interval: Interval) -> float | None:
        """What the process and its children used over a stretch of time, in percent of one core; None: not sampled."""
        begin, end = interval
        time, length, cpu = self._cpu
        shared = np.minimum(end, time) - np.maximum(begin, time - length)
        inside = shared > 0
        seen = float(shared[inside].sum())
        return float((cpu[inside] * shared[inside]).sum()) / seen if seen else None

    def busy_pct_together(self, intervals: Sequence[Interval]) -> float | None:
        """The same over several stretches of time together, each of which may be shorter than a sample; None likewise.

        What a sample that reaches beyond them holds of other time was spent as at the median of the other samples.
        """
        time, length, cpu = self._cpu
        inside = np.zeros(len(time), np.int64)
        for begin, end in intervals:
            inside += np.maximum(0, np.minimum(end, time) - np.maximum(begin, time - length))
        some = inside > 0
        if not some.any():
            return None
        usual = float(np.median(cpu[~some])) if not some.all() else 0.0
        used = float((cpu * length)[some].sum()) - usual * float((length - inside)[some].sum())
        return max(0.0, used / float(inside[some].sum()))

    def children_cores(self, begins: Integers, ends: Integers) -> float:
        """Cores that processes below the traced one used in some stretches of time, on average; 0: there were none.

        What one had used when it was first sampled, and after its last sample, is no difference of two samples: that is
        shared out over its life.

        Args:
            begins: Where the stretches begin (ns), in order of time.
            ends: Where they end.
        """
        columns = ("pid", "time_ns", "interval_ns", "cpu_pct")
        own = self._run.manifest.process.pid
        rows = self._run.filtered(
            "process_samples", columns, lambda p: pc.and_(pc.is_valid(p["cpu_pct"]), pc.not_equal(p["pid"], own))
        )
        time, length, cpu = integers(rows["time_ns"]), integers(rows["interval_ns"]), rows["cpu_pct"].to_numpy() / 100
        sampled: dict[int, float] = {}
        for pid, ns in zip(integers(rows["pid"]).tolist(), (cpu * length).tolist(), strict=True):
            sampled[pid] = sampled.get(pid, 0.0) + ns
        begin, end, cores = self._between_samples(sampled)
        asked = Stretches(begins, ends)
        shared = asked.lengths_within(np.append(time - length, begin), np.append(time, end))
        return float((np.append(cpu, cores) * shared).sum()) / max(1, asked.ns)

    def _between_samples(self, sampled: Mapping[int, float]) -> tuple[Integers, Integers, Floats]:
        """From when to when (ns) each process below the traced one lived, and the cores that samples do not have of it.

        Args:
            sampled: Process to what samples say that it used (ns).
        """
        own, wall = self._run.manifest.process.pid, self._run.wall_ns or 0
        found = []
        for row in self._run.rows("processes"):
            begin, end = max(0, row["start_ns"] or 0), wall if row["end_ns"] is None else row["end_ns"]
            left = (row["cpu_ns"] or 0) - sampled.get(row["pid"], 0.0)
            if row["pid"] != own and left > 0 and end > begin:
                found.append((begin, end, left / (end - begin)))
        lives = np.array([one[:2] for one in found], np.int64).reshape(-1, 2)
        return lives[:, 0], lives[:, 1], np.array([one[2] for one in found], float)

    @cached_property
    def _cpu(self) -> tuple[Integers, Integers, Floats]:
        """When what the processes used was sampled, over how long (ns), and how much it was (percent of one core)."""
        columns = ("time_ns", "interval_ns", "cpu_pct")
        known = self._run.filtered("process_samples", columns, lambda piece: pc.is_valid(piece["cpu_pct"]))
        return integers(known["time_ns"]), integers(known["interval_ns"]), known["cpu_pct"].to_numpy().astype(float)

    def counter_growth(self, column: str) -> int | None:
        """By how much a counter of `machine` grew over the run (ns); None: this machine does not tell it."""
        return scheduling.counter_growth(self._run, column)

    def _mean_of_machine(self, column: str) -> float:
        """Mean of a column of `machine` while the run trained."""
        value = scheduling.mean_of_machine(self._run, self._span, column)
        if value is None:
            raise Abstain(f"{column} was not measured during the training")
        return value

    def _tree_pct(self) -> float:
        """What the process and its children used while it trained, in percent of one core."""
        begin, end = self._span
        time, length, cpu = self._cpu
        inside = (time > begin) & (time <= end)
        if not inside.any():
            raise Abstain("the process was not sampled during the training")
        _, each = np.unique(time[inside], return_index=True)
        return float((cpu * length)[inside].sum() / length[inside][each].sum())
