"""What the rules look at: one run, or a slow one beside a fast one, with what several rules need."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import breakdown, kernels, recompilations, samples, step_split, steps, training
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.compare import Comparison
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.analysis.samples import Sample
from dlprof.analysis.stacks import Frame
from dlprof.engines import combined
from dlprof.schema.vocabulary import OWN_PATHS, PseudoLayer, TreePath
from dlprof.store.run import Run

Interval = tuple[int, int]
"""Begin and end (ns)."""
_AROUND_NS = 1_500_000_000
"""Counters of the process are taken so long before and after the training: they are sampled once a second."""
WORK = ("fit", "evaluate", "predict", "script", "data")
"""Top of the tree where the user's own work is done, not the start and the end of the process."""


@dataclass(frozen=True)
class Scheduling:
    """The traced process on the machine's cores over a stretch of time.

    Attributes:
        run_ns: Time of all threads on a core.
        wait_ns: Time of all threads that could run and had no core.
        others_pct: What other programs used, in percent of one core.
        tree_pct: What the process and its children used, in percent of one core.
    """

    run_ns: int
    wait_ns: int
    others_pct: float
    tree_pct: float

    @property
    def waiting(self) -> float:
        """Share of the runnable time that was spent without a core."""
        return self.wait_ns / (self.run_ns + self.wait_ns) if self.run_ns + self.wait_ns else 0.0


class Case:
    """A run to be diagnosed; with `against`, why it is slower than the other run of that comparison.

    Args:
        run: The run, or the slow one.
        against: The comparison whose side A is the run; None: the run alone.
    """

    def __init__(self, run: Run, against: Comparison | None = None) -> None:
        tree = breakdown.of_run(run)
        if tree is None:
            raise Abstain("the run has no phases")
        self.run = run
        self.tree: Breakdown = tree
        self.against = against
        self.other: Case | None = Case(against.b.runs[0]) if against is not None else None

    @property
    def pair(self) -> bool:
        """Whether this is about the gap between two runs."""
        return self.against is not None

    @property
    def whole_ns(self) -> int:
        """What shares are of: the wall time, or the gap."""
        return max(1, self.against.gap_ns) if self.against is not None else max(1, self.tree.wall_ns)

    @cached_property
    def available(self) -> dict[str, int]:
        """Leaf to time that a finding may claim: all of it, or what A spent more than B, beyond noise (ns)."""
        if self.against is None:
            return dict(self.tree.leaves.items())
        return {
            item.path: min(item.delta_ns, item.a_ns - int(self.against.common * item.b_ns))
            for item in self.against.items
            if item.delta_ns > 0 and not item.noise
        }

    def time(self, path: str) -> int:
        """Available time of a leaf and of all below it (ns)."""
        return sum(ns for leaf, ns in self.available.items() if _below(leaf, path))

    def own(self, path: str) -> int:
        """The run's own time there, whatever the other run spent (ns)."""
        return self.tree.time(TreePath(path))

    def host(self, phase: str) -> int:
        """Time of the host in a phase, whatever the device did beside it (ns)."""
        rows = self.run.rows("phases")
        return sum(row["dur_ns"] for row in rows if row["phase"] == phase.replace("/", "."))

    def takes(self, *paths: str, share: float = 1.0) -> dict[str, int]:
        """A share of the available time of all leaves at and below some paths."""
        return {
            leaf: int(ns * share)
            for leaf, ns in self.available.items()
            if any(_below(leaf, path) for path in paths) and leaf not in OWN_PATHS
        }

    # -- facts ---------------------------------------------------------------------------------------

    @cached_property
    def training(self) -> training.Training | None:
        """What the run was told of its training."""
        return training.of_run(self.run)

    @property
    def training_place(self) -> tuple[str, int] | None:
        """(file, line) where the training was started."""
        return self.training.place if self.training else None

    @property
    def backend(self) -> str:
        """Name of the backend that Keras ran on, or of the engine."""
        manifest = self.run.manifest
        engine = manifest.engine.name if manifest.engine is not None else None
        return manifest.keras_backend or engine or manifest.backend.name or ""

    @property
    def asynchronous(self) -> bool:
        """Whether a step's call returns before the work is done."""
        return self.run.manifest.backend.asynchronous_dispatch

    @cached_property
    def split(self) -> step_split.StepSplit | None:
        """What a step consists of, where a kernel window was traced."""
        return step_split.of_run(self.run)

    @cached_property
    def operators(self) -> kernels.Kernels:
        """Operators by layer, where a kernel window was traced."""
        return kernels.summarise(self.run, "layer", kinds=("operator",))

    @cached_property
    def recompilations(self) -> list[recompilations.Recompilation]:
        """Graphs that were compiled again."""
        return recompilations.find(self.run.table("spans"))

    @cached_property
    def spans(self) -> list[dict[str, Any]]:
        """Rows of `spans`."""
        return self.run.rows("spans")

    @cached_property
    def loop(self) -> steps.StepSummary | None:
        """Steps of the main loop."""
        found = steps.summarise(self.run.table("steps"), self.run.table("kernel_windows"))
        return found[0] if found else None

    @cached_property
    def usable_cores(self) -> int:
        """Cores that the process might use."""
        machine = self.run.manifest.machine
        told = self.training.threads.get("usable_cores") if self.training else None
        return int(told or machine.usable_cores or machine.cores or 1)

    @cached_property
    def has_gpu(self) -> bool:
        """Whether kernels ran on a GPU."""
        return bool(pc.any(pc.greater_equal(self.run.table("kernel_events")["device"], 0)).as_py())

    # -- time ------------------------------------------------------------------------------------------

    @cached_property
    def _phases(self) -> PhaseLookup:
        return PhaseLookup(self.run.table("phase_intervals"))

    @cached_property
    def training_span(self) -> Interval:
        """From the first step's begin to the last one's end; the whole run where there was none."""
        table = self.run.table("steps")
        if not table.num_rows:
            return 0, self.tree.wall_ns
        start, dur = np.asarray(table["start_ns"]), np.asarray(table["dur_ns"])
        return int(start.min()), int((start + dur).max())

    def by_phase(self, intervals: Iterable[Interval]) -> dict[str, int]:
        """Time of some intervals in each leaf phase (ns)."""
        found: dict[str, int] = {}
        for begin, end in intervals:
            for phase, ns in self._phases.by_place([(begin, end)]).items():
                told = self._part_of_step(begin) if phase == "fit/steps" else phase
                found[told] = found.get(told, 0) + ns
        return found

    def _part_of_step(self, begin: int) -> str:
        """Whether a moment inside the steps is one of callbacks or of input: these are kept as sums of each step."""
        starts, ends, callbacks, waited = self._steps
        index = int(np.searchsorted(starts, begin, "right")) - 1
        if index >= 0 and begin < ends[index]:
            return "fit/callbacks" if begin >= ends[index] - callbacks[index] else "fit/steps"
        following = index + 1
        return (
            "fit/input" if following < len(starts) and begin >= starts[following] - waited[following] else "fit/steps"
        )

    @cached_property
    def _steps(self) -> tuple[np.ndarray, ...]:
        """Begin, end, callbacks and input of the training steps, in order of time (ns)."""
        table = self.run.table("steps")
        table = table.filter(pc.equal(table["loop"].cast(pa.string()), "train")).sort_by("start_ns")
        columns = [
            np.asarray(pc.fill_null(table[name], 0)) for name in ("start_ns", "dur_ns", "callbacks_ns", "input_ns")
        ]
        return columns[0], columns[0] + columns[1], columns[2], columns[3]

    def spread(self, by_phase: dict[str, int]) -> dict[str, int]:
        """Times by leaf phase as times by leaf of the tree: what is in steps is shared by their parts."""
        found: dict[str, int] = {}
        for phase, ns in by_phase.items():
            inside = [leaf for leaf in self.tree.leaves if _below(leaf, phase)]
            whole = sum(self.tree.leaves[leaf] for leaf in inside)
            for leaf in inside:
                part = ns * self.tree.leaves[leaf] // max(1, whole)
                found[leaf] = found.get(leaf, 0) + min(part, self.tree.leaves[leaf])
        return found

    # -- samples ---------------------------------------------------------------------------------------

    @cached_property
    def user_files(self) -> set[str]:
        """Files of the user's own code, as far as they were seen."""
        return samples.user_files(self.run)

    @cached_property
    def samples(self) -> list[Sample]:
        """All sampled stacks, cut by phase."""
        return samples.of_run(self.run, self._phases)

    def need_samples(self) -> None:
        """Abstain where no stack was sampled."""
        if not self.samples:
            raise Abstain("no Python stack was sampled")

    def sampled(self, phases: Sequence[str], chosen: Callable[[Sample], bool], *, main: bool = True) -> float:
        """Share of the sampled time of some phases in which a stack of that thread is one of those chosen."""
        inside = [one for one in self.samples if one.main == main and any(_below(one.phase, p) for p in phases)]
        # Other threads come and go: their time is a share of the phase's.
        whole = sum(one.dur_ns for one in inside) if main else sum(self.own(phase) for phase in phases)
        return min(1.0, sum(one.dur_ns for one in inside if chosen(one)) / whole) if whole else 0.0

    def hottest_user_line(
        self, phases: Sequence[str], chosen: Callable[[Sample], bool] = lambda _one: True, *, main: bool | None = True
    ) -> tuple[str, int] | None:
        """The innermost line of the user's code that stood longest in some phases: (file, line)."""
        stood: dict[tuple[str, int], int] = {}
        for one in self.samples:
            if (main is None or one.main == main) and any(_below(one.phase, p) for p in phases) and chosen(one):
                frame = self.user_frame(one)
                if frame is not None:
                    stood[frame[1], frame[2]] = stood.get((frame[1], frame[2]), 0) + one.dur_ns
        return max(stood, key=lambda place: stood[place]) if stood else None

    def user_frame(self, sample: Sample) -> Frame | None:
        """The innermost frame of the user's code."""
        return next((frame for frame in sample.frames if frame[1] in self.user_files), None)

    def is_called_back(self, sample: Sample) -> bool:
        """Whether user code runs that a library called: a callback, a generator, a layer; on other threads any."""
        return samples.is_called_back(sample, self.user_files)

    def feeds(self, sample: Sample) -> bool:
        """Whether user code runs that was called to make a batch: before a step, or on another thread.

        An engine calls Python from threads of its own for a batch as for a layer; the operators that do so tell which.
        """
        if not self.is_called_back(sample):
            return False
        if sample.main:
            return sample.phase == "fit/input"
        return samples.is_of_input(sample) or not (samples.is_operator(sample) and self._python_in_steps)

    @cached_property
    def _python_in_steps(self) -> bool:
        """Whether operators that call Python are rather part of the model than of the input."""
        calling = [row for row in self.operators.rows if row.keys.get("op") in combined.python_operators()]
        feeding = sum(row.total_ns for row in calling if row.keys.get("layer") == PseudoLayer.INPUT)
        return feeding < sum(row.total_ns for row in calling) / 2

    @cached_property
    def feeds_arrays(self) -> bool:
        """Whether whole arrays were given to `fit`, so that all that batches cost is the engine's and Keras' own."""
        for row in self.spans:
            if row["kind"] == "fit" and row["detail"]:
                detail = json.loads(row["detail"])
                if "adapter" in detail:
                    return bool(detail["adapter"] == "ArrayDataAdapter")
                return row["name"] == "fit" and bool(detail.get("data"))
        return False

    @cached_property
    def counting_note(self) -> str:
        """What is to be said of the time of the script's own Python; empty where counting lines does not slow it."""
        version = self.run.manifest.interpreter.version or ""
        old = tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < (3, 12)
        counted = any(row["name"] == "lines" and row["state"] == "on" for row in self.run.rows("probes"))
        if not (version and old and counted):
            return ""
        return (
            f" Counting lines slows such code down on Python {version}, up to four times: "
            "dlprof trace --probes=-lines tells its own time."
        )

    def source(self, file: str, line: int) -> str:
        """Text of a line of the user's code; empty where no copy of the file was kept."""
        if file not in self._sources:
            self._sources[file] = self.run.folder.source_lines(file)
        lines = self._sources[file]
        return lines[line - 1] if 0 < line <= len(lines) else ""

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        return {}

    def line_with(self, *words: str) -> tuple[str, int] | None:
        """The first line of the user's code that ran and has one of these words: the call that set something."""
        rows = (row for row in self.run.rows("lines") if row["hits"] and row["source"])
        found = ((row["file"], row["line"]) for row in rows if any(word in row["source"] for word in words))
        return min(found, default=None)

    # -- machine ---------------------------------------------------------------------------------------

    @cached_property
    def scheduling(self) -> Scheduling:
        """The process on the cores while it trained.

        Abstains where the machine was not sampled often enough.
        """
        rows = self.process_samples("run_ns")
        if len(rows) < 2:
            raise Abstain("the scheduling of threads was sampled less than twice during the training")
        return Scheduling(
            _growth([row["run_ns"] for row in rows]),
            _growth([row["wait_ns"] for row in rows]),
            self.machine_mean("others_cpu_pct"),
            self._tree_pct(*self.training_span),
        )

    def process_samples(self, column: str, around_ns: int = _AROUND_NS) -> list[dict[str, Any]]:
        """Samples of the traced process, without its children, around the training, where a column was measured."""
        begin, end = self.training_span
        pid = self.run.manifest.process.pid
        return [
            row
            for row in self.run.rows("process_samples")
            if row["pid"] == pid and row[column] is not None and begin - around_ns <= row["time_ns"] <= end + around_ns
        ]

    def busy_pct(self, begin: int, end: int) -> float | None:
        """What the process and its children used over a stretch of time, in percent of one core; None: not sampled."""
        used = seen = 0.0
        for row in self.run.rows("process_samples"):
            shared = min(end, row["time_ns"]) - max(begin, row["time_ns"] - row["interval_ns"])
            if shared > 0 and row["cpu_pct"] is not None:
                used += row["cpu_pct"] * shared
                seen += shared
        return used / seen if seen else None

    def machine_mean(self, column: str) -> float:
        """Mean of a column of `machine` while the run trained."""
        table = self._in_training(self.run.table("machine"))
        value = pc.mean(table[column]).as_py()
        if value is None:
            raise Abstain(f"{column} was not measured during the training")
        return float(value)

    def machine_growth(self, column: str) -> int | None:
        """By how much a counter of `machine` grew over the run (ns); None: this machine does not tell it."""
        values = self.run.table("machine")[column].drop_null().to_pylist()
        return int(values[-1] - values[0]) if len(values) >= 2 else None

    def _in_training(self, table: pa.Table) -> pa.Table:
        begin, end = self.training_span
        time = table["time_ns"]
        rows = table.filter(pc.and_(pc.greater(time, begin), pc.less_equal(time, end + 200_000_000)))
        return rows if rows.num_rows else table

    def _tree_pct(self, begin: int, end: int) -> float:
        total, spans = 0.0, {}
        for row in self.run.rows("process_samples"):
            if begin < row["time_ns"] <= end and row["cpu_pct"] is not None:
                total += row["cpu_pct"] * row["interval_ns"]
                spans[row["time_ns"]] = row["interval_ns"]
        if not spans:
            raise Abstain("the process was not sampled during the training")
        return float(total / sum(spans.values()))


def _growth(values: Sequence[int]) -> int:
    """By how much a sum over the threads of a process grew: a thread that ends takes its part with it."""
    return sum(max(0, after - before) for before, after in itertools.pairwise(values))


def _below(leaf: str, path: str) -> bool:
    return leaf == path or leaf.startswith(f"{path}/")
