"""What the rules look at: one run, or a slow one beside a fast one.

A case has the time that may be claimed. What else several rules look at is in parts of it, a file each: `calls`,
`phases`, `kernels`, `devices`, `code`, `machine`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from dlprof.analysis import breakdown, input_pipeline, loops, training
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.compare import Comparison
from dlprof.analysis.findings import gap_causes, input_waits
from dlprof.analysis.findings.calls import Calls
from dlprof.analysis.findings.finding import Abstain, SourceLine
from dlprof.analysis.findings.gap_causes import GapCauses
from dlprof.analysis.findings.input_load import InputLoad
from dlprof.analysis.findings.machine_load import MachineLoad
from dlprof.analysis.findings.phase_times import PhaseTimes
from dlprof.analysis.findings.sampled_code import SampledCode
from dlprof.analysis.findings.traced_devices import TracedDevices
from dlprof.analysis.findings.traced_kernels import TracedKernels
from dlprof.analysis.input_pipeline import InputPipeline
from dlprof.analysis.steps import StepSummary, of_run
from dlprof.engines import registry
from dlprof.engines.base import UNKNOWN, EngineSpec
from dlprof.schema.tree_paths import OWN_PATHS, Tree, TreePath
from dlprof.schema.vocabulary import RunState, StepPart, Whole
from dlprof.store.run import Run

WORK = (Tree.FIT, Tree.EVALUATE, Tree.PREDICT, Tree.SCRIPT, Tree.DATA)
"""Top of the tree where the user's own work is done, not the start and the end of the process."""


class Case:
    """A run to be diagnosed; with `against`, why it is slower than the other run of that comparison.

    Args:
        run: The run, or the slow one.
        against: The comparison whose side A is the run; None: the run alone.
    """

    def __init__(self, run: Run, against: Comparison | None = None) -> None:
        tree = breakdown.of_run(run)
        if tree is None:
            raise Abstain(breakdown.why_none(run))
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
        """What shares are of: the wall or traced time, the gap, or the sum of what takes longer (ns)."""
        if self.whole is Whole.TRACED:
            return max(1, self.tree.wall_ns - self.tree.unattributed_ns)
        if self.against is None:
            return max(1, self.tree.wall_ns)
        return max(1, self.against.gap_ns if self.whole is Whole.GAP else self._longer_ns)

    @property
    def _longer_ns(self) -> int:
        return sum(self.available.values()) + sum(self.more_steps.values())

    @property
    def work_ns(self) -> int:
        """What a cause in the user's own work must be large beside (ns): that work, of a pair the whole.

        Start, imports and end of a short run say nothing of a longer one.
        """
        return self.whole_ns if self.pair else max(1, sum(self.own(top) for top in WORK))

    @property
    def whole(self) -> Whole:
        """What that is; of two runs the gap only where there is one."""
        if self.against is None:
            is_of_trace = self.run.manifest.state == RunState.IMPORTED
            return Whole.TRACED if is_of_trace and self.tree.unattributed_ns > 0 else Whole.WALL
        return Whole.GAP if self.against.gap_ns > 0 and not self.against.noise else Whole.LONGER

    # -- time ------------------------------------------------------------------------------------------

    @cached_property
    def available(self) -> Mapping[TreePath, int]:
        """Leaf to time that a finding may claim: all of it, or what A spent more than B, beyond noise (ns).

        Steps that A did more are a cause of their own (`more_steps`).
        """
        if self.against is None:
            return self.tree.leaves
        return {item.path: self.against.longer_ns(item) for item in self.against.longer_in_a}

    @cached_property
    def more_steps(self) -> Mapping[TreePath, int]:
        """Leaf to what the steps take there that A did more than B, at B's time for each (ns)."""
        if self.against is None:
            return {}
        more = {item.path: min(item.delta_ns, item.more_steps_ns) for item in self.against.longer_in_a}
        return {path: ns for path, ns in more.items() if ns > 0}

    def time(self, path: TreePath) -> int:
        """Available time of a leaf and of all below it (ns)."""
        return sum(ns for leaf, ns in self.available.items() if path.holds(leaf))

    def own(self, path: TreePath) -> int:
        """The run's own time there, whatever the other run spent (ns)."""
        return self.tree.time(path)

    def takes(self, *paths: TreePath, share: float = 1.0) -> dict[TreePath, int]:
        """A share of the available time of all leaves at and below some paths."""
        return {
            leaf: int(ns * share)
            for leaf, ns in self.available.items()
            if any(path.holds(leaf) for path in paths) and leaf not in OWN_PATHS
        }

    def filled(self, wanted_ns: float, *paths: TreePath) -> dict[TreePath, int]:
        """So much of some phases (ns), by leaf: of those that are named first as much as there is of them."""
        found: dict[TreePath, int] = {}
        left = int(wanted_ns)
        for path in paths:
            for leaf, ns in self.takes(path).items():
                if leaf not in found:
                    found[leaf] = min(ns, left)
                    left -= found[leaf]
        return found

    def spent(self, ns: int) -> dict[TreePath, int]:
        """Time that was spent around the passes of a loader: between epochs, then in waits (ns)."""
        found: dict[TreePath, int] = {}
        for path in (Tree.FIT_STEPS_EDGES, Tree.FIT_INPUT, Tree.FIT_STEPS / StepPart.INPUT):
            for leaf, there in self.takes(path).items():
                found[leaf] = min(ns, there)
                ns -= found[leaf]
        return found

    def spread(self, by_phase: Mapping[TreePath, int]) -> dict[TreePath, int]:
        """Times by leaf phase as times by leaf of the tree: what is in steps is shared by their parts."""
        shares: dict[TreePath, int] = {}
        for phase, ns in by_phase.items():
            inside = {leaf: own for leaf, own in self.tree.leaves.items() if phase.holds(leaf)}
            whole = max(1, sum(inside.values()))
            for leaf, own in inside.items():
                shares[leaf] = shares.get(leaf, 0) + min(ns * own // whole, own)
        return shares

    @property
    def steps(self) -> TreePath | None:
        """Where the steps of the main loop are in the tree; None: the run had no steps."""
        return self.tree.steps

    # -- facts -----------------------------------------------------------------------------------------

    @property
    def backend(self) -> str:
        """Name of the backend that Keras ran on, or of the engine."""
        manifest = self.run.manifest
        engine = manifest.engine.name if manifest.engine is not None else None
        return manifest.keras_backend or engine or manifest.backend.name or ""

    @cached_property
    def engine(self) -> EngineSpec:
        """What dlprof knows of the engine; of one that nobody knows, what is usual."""
        manifest = self.run.manifest
        if manifest.keras is not None and manifest.keras.backend:
            return registry.under_keras(manifest.keras.backend, manifest.keras.version) or UNKNOWN
        version = manifest.engine.version if manifest.engine is not None else None
        return registry.find(self.backend, version) or UNKNOWN

    @property
    def asynchronous(self) -> bool:
        """Whether a step's call returns before the work is done."""
        return self.run.manifest.backend.asynchronous_dispatch

    @property
    def input_inside_step(self) -> bool:
        """Whether the next batch is fetched inside the step function."""
        return loops.fetches_inside_steps(self.run)

    @cached_property
    def training(self) -> training.Training | None:
        """What the run was told of its training."""
        return training.of_run(self.run)

    @property
    def training_line(self) -> SourceLine | None:
        """The user's line that started the training."""
        return self.training.place if self.training else None

    @cached_property
    def loop(self) -> StepSummary | None:
        """Steps of the main loop."""
        return next(iter(of_run(self.run)), None)

    # -- parts -----------------------------------------------------------------------------------------

    @cached_property
    def calls(self) -> Calls:
        """Saves, imports, compilations: the calls in which the process was seen."""
        return Calls(self.run)

    @cached_property
    def phases(self) -> PhaseTimes:
        """When the main thread was in which phase."""
        return PhaseTimes(self.run, self.tree.wall_ns)

    @cached_property
    def kernels(self) -> TracedKernels:
        """Operators and kernels of the windows."""
        return TracedKernels(self.run)

    @cached_property
    def devices(self) -> TracedDevices:
        """GPUs of the windows: how busy they were, and when not."""
        return TracedDevices(self.run, self.tree)

    @cached_property
    def gap_causes(self) -> GapCauses:
        """Why they had nothing to run, as far as that was the host's."""
        return gap_causes.of_devices(self.run, self.devices)

    @cached_property
    def code(self) -> SampledCode:
        """Whose Python code ran."""
        return SampledCode(self.run, self.tree, self.phases.lookup, self.kernels)

    @cached_property
    def input_waits(self) -> Mapping[TreePath, int]:
        """What the training waited for its input, by leaf (ns); empty where that is usual."""
        return input_waits.waits(self)

    @cached_property
    def input(self) -> InputLoad:
        """The loader that the training is fed by.

        Raises:
            Abstain: None was seen, or this is about two runs.
        """
        if self.pair:
            raise Abstain("of two runs the loaders are not compared")
        fed = [(self._trained_with(one), one) for one in input_pipeline.of_run(self.run)]
        ns, pipeline = max(fed, key=lambda item: item[0], default=(0, None))
        if pipeline is None or not ns:
            raise Abstain(
                "no loader was seen to feed the training: none of PyTorch's or Keras' own, or it was not traced"
            )
        loop = input_waits.loop_ns(self)
        stands = 1 - self.kernels.on_main_thread if self.tree.unsplit is None else 0.0
        return InputLoad(self.run, pipeline, self.input_waits, loop, self.phases.training_span, self.machine, stands)

    def _trained_with(self, pipeline: InputPipeline) -> int:
        """For how long a loader was iterated while the training ran, not its validation (ns)."""
        times = self.phases.lookup.by_place([(one.start_ns, one.end_ns) for one in pipeline.loader.passes])
        return sum(times.get(path, 0) for path in (Tree.FIT_STEPS, Tree.FIT_INPUT))

    @cached_property
    def machine(self) -> MachineLoad:
        """The machine while the run trained."""
        return MachineLoad(self.run, self.phases.training_span, self.training)
