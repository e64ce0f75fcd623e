"""The report of a run (`dlprof.report/1`) as typed objects: `summary` makes them; texts, pages and JSON read them.

The fields, in this order, are those of `dlprof report --json` (`dlprof help json`): new ones may come, none changes.
Names that end with `_ns` are nanoseconds. None: not known, or not measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from dlprof.analysis.device_time import DeviceTime
from dlprof.analysis.gpu_idle import GpuIdle
from dlprof.analysis.graph_breaks import GraphBreak
from dlprof.analysis.graph_compilations import GraphCompilation
from dlprof.analysis.import_lines import ImportLine
from dlprof.analysis.input_graphs import InputGraph
from dlprof.analysis.input_pipeline import InputPipeline
from dlprof.analysis.kernels import OF_HOST
from dlprof.analysis.latency import CallLatency
from dlprof.analysis.later_epochs import SlowEpoch
from dlprof.analysis.lines import HotLine
from dlprof.analysis.loops import LoopSummary
from dlprof.analysis.processes import ProcessSummary
from dlprof.analysis.recompilations import Recompilation
from dlprof.analysis.steps import StepSummary
from dlprof.analysis.syncs import SyncPlace
from dlprof.analysis.utilisation import GpuUse
from dlprof.report.memory_json import MemoryReport
from dlprof.schema.manifest import Engine, Followed, Machine, Thinned
from dlprof.schema.vocabulary import ProbeState, RunSource, RunState

SCHEMA = "dlprof.report/1"


class PhaseThread(Struct, frozen=True):
    """When phases are of another thread than the main one: it trained meanwhile, and the main one did not."""

    thread: str
    start_ns: int
    end_ns: int


class PhaseTime(Struct, frozen=True):
    """A phase of the main thread, or of one of `phase_threads` in its time.

    Those without a parent and what is unattributed sum to the wall time.
    """

    name: str
    parent: str | None
    dur_ns: int
    count: int | None


@dataclass(frozen=True, kw_only=True)
class MainLoop(StepSummary):
    """The loop that counts most: training, where there was some.

    Attributes:
        asynchronous_dispatch: Whether its step function returns before the device is done.
        input_inside_step: Whether the next batch is fetched inside the step function.
        collectives_ns: Median over plain train steps of the time that a rank stands still in collectives, for other
            ranks or for the transfer; None: none were seen.
    """

    asynchronous_dispatch: bool
    input_inside_step: bool
    collectives_ns: int | None = None


class EpochTime(Struct, frozen=True):
    """An epoch of one call of `fit`, with what Keras said at its end."""

    loop_id: int
    epoch: int
    dur_ns: int
    steps: int
    metrics: Mapping[str, float]
    not_finite: Mapping[str, str] = MappingProxyType({})
    """Those that are no number: `NaN`, `Infinity` or `-Infinity`; JSON has null for them in `metrics`."""


class PartTime(Struct, frozen=True):
    """A part of a step, in the kernel window and scaled to a plain step."""

    name: str
    window_ns: int | None
    plain_ns: int | None


class StepParts(Struct, frozen=True):
    """What a step of the main loop consists of: the parts sum to it."""

    loop: str
    engine: str
    steps: int
    """Traced steps."""
    window_step_ns: int
    plain_step_ns: int | None
    slowdown: float | None
    """A traced step over a plain one."""
    parts: tuple[PartTime, ...]
    slow_epoch: SlowEpoch | None = None
    """The epoch of the traced steps, where those of later epochs are much faster: the parts are not theirs."""


class TreeTime(Struct, frozen=True):
    """A leaf of the tree of a run of foreign traces."""

    path: str
    """A `TreePath`."""
    ns: int


class LayerKernels(Struct, frozen=True):
    """Kernels of a layer in one direction, of one operator."""

    layer: str | None
    direction: str | None
    op: str | None
    category: str | None
    kind: str
    device: str
    count: int
    total_ns: int
    share: float
    """Of the time of all that ran on devices, or of all that ran on the host: as these did."""


class LineKernels(Struct, frozen=True):
    """Kernels that a line of the user's made, in a compiled function; None: those of no line."""

    file: str | None
    line: int | None
    source: str | None
    """Its text, where a copy of the file was kept."""
    kind: str
    device: str
    count: int
    total_ns: int
    share: float
    """Likewise."""


class CategoryKernels(Struct, frozen=True):
    """Kernels of a category."""

    category: str | None
    kind: str
    device: str
    total_ns: int


class DirectionKernels(Struct, frozen=True):
    """Kernels of a direction."""

    direction: str | None
    kind: str
    device: str
    total_ns: int


class KernelSums(Struct, frozen=True):
    """What the tracers saw, in sum; the rows with most time come first."""

    rows: tuple[LayerKernels, ...]
    all_ns: int
    unattributed_ns: int
    dropped_events: int
    by_category: tuple[CategoryKernels, ...]
    by_direction: tuple[DirectionKernels, ...]
    all_of: str = OF_HOST
    """What `all_ns` is the time of: `devices`, or where nothing ran on one, `host`. The two are never added."""
    host_ns: int | None = None
    """Time of all operators of the host."""
    by_line: tuple[LineKernels, ...] = ()
    """Empty where no trace tells the lines: those of JAX do."""


class Source(Struct, frozen=True):
    """A file of foreign traces that the run was made of."""

    file: str
    format: str
    events: int | None
    shift_ns: int | None
    """What was added to its times to bring them to the run's clock."""
    facts: str | None
    """What else it says, as JSON."""


class StackFrame(Struct, frozen=True):
    """A frame of a stack."""

    function: str
    file: str
    line: int


class PhaseStack(Struct, frozen=True):
    """A stack of the main thread that was seen for long in a phase."""

    phase: str
    dur_ns: int
    share: float
    """Of the phase's sampled time."""
    frames: tuple[StackFrame, ...]
    """Innermost first."""


class CoreLoad(Struct, frozen=True):
    """A core over the run, in percent."""

    core: int
    mean_pct: float | None
    strip_pct: tuple[float | None, ...]
    """In equal parts of the run."""


class MemoryLimit(Struct, frozen=True):
    """The limit nearest to what a process had, `its address space` or such, where that is not the machine's memory."""

    whose: str
    limit_bytes: int
    left_bytes: int  # when least was; of a data limit, no more than that


class ProcessUse(Struct, frozen=True):
    """How the process ended, and what it and the machine did meanwhile; CPU in percent of one core."""

    pid: int | None
    exit_code: int | None
    signal: int | None
    wall_ns: int | None
    cpu_user_ns: int | None
    cpu_system_ns: int | None
    stopped_ns: int | None
    """Time in which it stood still, stopped by a signal: part of `wall_ns`."""
    replaced_by: str | None
    """The program that it went on as (`os.execv`)."""
    went_on: bool
    """It had not ended: it was followed, and outlived the program."""
    tree_cpu_pct: float | None
    others_cpu_pct: float | None
    dlprof_cpu_pct: float | None
    peak_rss_bytes: int | None
    threads: int | None
    processes: int
    available_min_bytes: int | None
    major_faults: int | None
    switches_involuntary: int | None
    memory_limit: MemoryLimit | None = None
    """None: no limit is nearer than the memory of the machine, or none is told."""


class MeasuredGpus(Struct, frozen=True):
    """GPUs were sampled."""

    measured: Literal[True]
    gpus: tuple[GpuUse, ...]


class UnmeasuredGpus(Struct, frozen=True):
    """GPUs were not sampled, and why not."""

    measured: Literal[False]
    reason: str


class ProbeCost(Struct, frozen=True):
    """What became of a probe, and what it cost."""

    name: str
    state: str
    reason: str | None
    cost_ns: int | None
    cost_source: str | None
    """How the cost is known."""
    thinned: Thinned | None = None
    """What there was less of, to keep the budget; None: it measured all that it was to."""
    tax_ns: int | None = None
    """What of the cost the run had to wait for; None: not known, or in another probe's."""
    share: float | None = None
    """The same as a share of the wall time."""


class Overhead(Struct, frozen=True):
    """What all probes together took of the run."""

    tax_ns: int | None
    """What the run had to wait for, as far as known (ns); None: of no probe."""
    share: float | None
    """Of the wall time."""
    budget: float | None
    """What share it was to be at most; None: no limit, or a run of an older dlprof."""


class HealthLine(Struct, frozen=True):
    """Something that was dropped, cut, killed or odd."""

    slug: str
    severity: str
    message: str
    count: int | None


class Cause(Struct, frozen=True):
    """A finding of the run's diagnosis."""

    slug: str
    title: str
    """What it is called for people."""
    claim: str
    at_stake_ns: int
    share: float
    """Of the wall time."""
    basis: str
    file: str | None
    line: int | None
    next_step: str
    confidence: float = 1.0
    """How likely it is the right cause, 0 to 1."""
    is_question: bool = False
    """Whether that is too little to say it as a fact."""


class SkippedEvents(Struct, frozen=True):
    """What a reader of traces passed over."""

    source: str
    """The file; `kernel windows` for those of dlprof's own."""
    what: str
    events: int
    why: str


class ClockErrors(Struct, frozen=True):
    """How well the clocks are known."""

    error_ns: int | None
    stacks_error_ns: int | None
    wall_drift_ns: int | None


class Exit(Struct, frozen=True):
    """How the process ended: one of them is None; both: that is not known."""

    code: int | None
    signal: int | None
    exception: str | None = None
    """The class of the exception that left the script; None: none did, or it was not seen."""
    file: str | None = None
    """The user's file whose line it came from; None: there is none."""
    line: int | None = None


class UnrecordedTime(Struct, frozen=True):
    """The end of a run of which nothing was recorded: part of what is unattributed."""

    since_ns: int
    dur_ns: int
    share: float
    """Of the wall time, 0 to 1."""
    cause: str
    """A `StreamEnd`."""
    reason: str
    """The same as a clause."""


class LostTable(Struct, frozen=True):
    """A table that was written and cannot be read, nor made again."""

    table: str
    why: str
    """As a clause."""


class Report(Struct, frozen=True, kw_only=True):
    """All of it."""

    schema: str = SCHEMA
    run: str
    script: str | None
    """What was run; None for a run of foreign traces."""
    arguments: tuple[str, ...]
    state: str
    source: str | None
    backend: str | None
    keras_version: str | None
    engine: Engine | None
    versions: Mapping[str, str]
    python_version: str | None
    machine: Machine
    created: str
    wall_ns: int | None
    phases: tuple[PhaseTime, ...]
    phase_threads: tuple[PhaseThread, ...] = ()
    """Other threads that the phases are of for a time, in order; none: they are of the main thread."""
    unattributed_ns: int | None
    steps: MainLoop | None
    step_summaries: tuple[StepSummary, ...]
    """The steps of all loops of a kind: training, evaluation, prediction."""
    loops: tuple[LoopSummary, ...] = ()
    """The loops by the lines that run them, and how each was found."""
    epochs: tuple[EpochTime, ...]
    recompilations: tuple[Recompilation, ...]
    step_split: StepParts | None
    kernels: KernelSums | None
    devices: tuple[DeviceTime, ...] = ()
    """How long each traced device was busy and idle; none where no device was traced."""
    gpu_idle: tuple[GpuIdle, ...]
    sources: tuple[Source, ...]
    window_starts: Mapping[str, int]
    """Where each source of kernel windows begins."""
    lines: tuple[HotLine, ...]
    stacks: tuple[PhaseStack, ...]
    cores: tuple[CoreLoad, ...]
    process: ProcessUse
    processes: tuple[ProcessSummary, ...] = ()
    """The program and what it started, those that used most; none where they were not looked at."""
    processes_left_out: int = 0
    """How many more were seen."""
    calls: tuple[CallLatency, ...] = ()
    """Latencies of predictions, those that took most in all first."""
    followed: Followed | None = None
    """Pythons below the program that were traced as runs of their own; None: they were not followed."""
    input_pipelines: tuple[InputPipeline, ...] = ()
    """The loaders that gave something, with the work of their workers by stage; none: no loader was seen."""
    input_graphs: tuple[InputGraph, ...] = ()
    """Pipelines that the engine runs itself (tf.data), by stage, as its profiler told; none: it told none."""
    gpu: MeasuredGpus | UnmeasuredGpus
    probes: tuple[ProbeCost, ...]
    overhead: Overhead
    health: tuple[HealthLine, ...]
    skipped: tuple[SkippedEvents, ...] | None = None
    """None: the run is of a dlprof that did not count it."""
    clock: ClockErrors
    exit: Exit
    verdict: str = ""
    """Where the time went, in one sentence."""
    findings: tuple[Cause, ...] | None = None
    """Causes, those with most time at stake first; None: not looked for, or the run cannot be diagnosed."""
    not_asked: tuple[str, ...] = ()
    """Rules that were not asked for want of time: findings may be missing."""
    tree: tuple[TreeTime, ...] | None = None
    """Of a run of foreign traces: where its time went; with what was not traced the leaves sum to the wall time.
    None: its files hold no times; and of runs that dlprof traced."""
    graph_breaks: tuple[GraphBreak, ...] = ()
    """Where graphs had to end, and why."""
    unrecorded: UnrecordedTime | None = None
    """None: the stream of the probe is whole, or the end of the process is not known."""
    lost_tables: tuple[LostTable, ...] = ()
    """Tables that are damaged for good: what is made of them is empty or null."""
    memory: MemoryReport | None = None
    """None: the report is one in short, or the run is made of foreign traces without samples of processes."""
    graph_compilations: tuple[GraphCompilation, ...] = ()
    """What it took to make graphs, by function and stage."""
    calls_left_out: int = 0
    """Places of predictions that are not among `calls`: those that took least."""
    syncs: tuple[SyncPlace, ...] | None = None
    """Where the program asked for values of the device, those that took longest first; None: not counted."""
    syncs_unknown: str | None = None
    """Why they were not counted, as a clause; None: they were."""
    import_line: ImportLine | None = None
    """The user's line in which more than half of the time of imports was; None: none, or they were not seen."""

    def missing(self, *tables: str) -> str | None:
        """Why what is made of some tables is not there, as a clause; None: all of them could be read."""
        return next((lost.why for lost in self.lost_tables if lost.table in tables), None)

    @property
    def imported(self) -> bool:
        """Whether it was made of foreign traces."""
        return self.state == RunState.IMPORTED

    @property
    def ran_on(self) -> str | None:
        """The backend, or without Keras the engine that was loaded; None: none that dlprof knows."""
        return self.backend or (self.engine.name if self.engine is not None else None)

    @property
    def attached(self) -> bool:
        """Whether it is of a process that ran already."""
        return self.source == RunSource.ATTACHED

    @property
    def outside(self) -> bool:
        """Whether it was measured from outside only: of a process that ran already, where no probe came into it."""
        if self.source != RunSource.ATTACHED:
            return self.source == RunSource.PROGRAM
        return not any(one.name == "phases" and one.state in (ProbeState.ON, ProbeState.FAILED) for one in self.probes)

    def probe(self, name: str) -> ProbeCost | None:
        """What became of a probe; None: the run knows none of that name."""
        return next((probe for probe in self.probes if probe.name == name), None)
