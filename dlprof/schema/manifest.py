"""The manifest of a run: what was run, where, with which probes, and how it ended.

A file of an older dlprof lacks some of it: what is missing has its default, which says "not known". Fields that this
dlprof does not know are passed over. A changed part is a replaced copy (`msgspec.structs.replace`).
`dlprof help run-folder` describes the folder around it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

from dlprof.schema.vocabulary import ProbeState, RunSource, RunState

FORMAT = "dlprof.run/1"
_MOST = 1 << 62
Moment = Annotated[int, Meta(ge=-_MOST, le=_MOST)]
"""Of any clock (ns): two of them can be added in 64 bits."""
Amount = Annotated[int, Meta(ge=0, le=_MOST)]
"""A duration (ns), a number of things or bytes: never negative."""
Number = Annotated[int, Meta(ge=-(1 << 31), le=(1 << 31) - 1)]
"""What a system gives out: numbers of processes and devices, exit codes."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What was run: a script, a module, or any program; all None for a run of foreign traces."""

    script: str | None = None
    module: str | None = None
    program: str | None = None
    argv: tuple[str, ...] = ()
    """Its arguments; what looks like a secret is hidden, unless the user had them kept."""
    masked: bool = False
    """Whether something was hidden in the arguments: this command cannot be run again as it stands."""

    @property
    def text(self) -> str | None:
        """What was run, as users know it; None for a run of foreign traces."""
        return self.script or self.program or (f"-m {self.module}" if self.module else None)


class Backend(msgspec.Struct, frozen=True, kw_only=True):
    """What Keras was to run on, and how steps return there."""

    name: str | None = None
    """The managed backend that was asked for; None: none was."""
    title: str | None = None
    source: str | None = None
    """Where the interpreter came from: a `RunSource`."""
    asynchronous_dispatch: bool = False
    """Whether the step function returns before the device has finished the step."""
    input_inside_step: bool = False
    """Whether the next batch is fetched inside the step function."""


class Interpreter(msgspec.Struct, frozen=True, kw_only=True):
    """The Python that ran the script."""

    version: str | None = None
    implementation: str | None = None


class Keras(msgspec.Struct, frozen=True, kw_only=True):
    """The Keras that trained, as it said itself."""

    module: str | None = None
    version: str | None = None
    backend: str | None = None
    engine_version: str | None = None


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """The engine that was loaded, as it said itself."""

    name: str | None = None
    version: str | None = None


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """What the cores can do at most, as measured on the machine (see `dlprof.launch.ceilings`)."""

    cpu: str | None = None
    cores: Amount = 0
    """Those that were used."""
    flops_per_s: Mapping[str, float] = {}
    """Floating-point operations per second of products of matrices, by type: `float32`."""
    bytes_per_s: float = 0.0
    """Bytes that are read and written per second by copies."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Where it ran."""

    host: str = ""
    system: str | None = None
    cpu: str | None = None
    cores: Amount | None = None
    usable_cores: Amount | None = None
    """Cores that the process might use, by its affinity."""
    physical_cores: Amount | None = None
    """Cores of the processor: fewer than `cores` where each is told as two (SMT); None: not known."""
    quota_cores: Annotated[float, Meta(gt=0)] | None = None
    """Cores' worth of time that its control group might use, as a container's `--cpus`.

    None: nothing limited it, or it is not known.
    """
    memory_bytes: Amount | None = None
    ceilings: Ceilings | None = None
    """None: they were not measured."""
    half_floats: list[str] | None = None
    """Floats of 16 bits that libraries have kernels for on the processor: `float16`, `bfloat16`; None: not known."""

    def at_once(self, usable: int | None = None) -> int | None:
        """Cores that the process might use at the same time, by its affinity and by the quota; None: not known.

        Args:
            usable: Cores by its affinity, where that is known of a later moment.
        """
        cores = usable or self.usable_cores or self.cores
        return min(cores, math.ceil(self.quota_cores)) if cores and self.quota_cores else cores


class Git(msgspec.Struct, frozen=True, kw_only=True):
    """The working tree around the script."""

    commit: str
    dirty: bool = False


class Conductor(msgspec.Struct, frozen=True, kw_only=True):
    """The dlprof that makes the run."""

    pid: Number
    started: float
    """Unix time of its start (s): numbers of processes are given out again."""


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """The run's clock and the wall clock, read at one moment."""

    perf_ns: Moment
    wall_ns: Moment
    width_ns: Amount = 0
    """Twice the greatest error of the pair (ns)."""


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """The run's clock against the wall clock."""

    origin_perf_ns: Moment = 0
    """The run's zero on CLOCK_MONOTONIC (ns)."""
    origin_wall_ns: Moment | None = None
    """The run's zero as Unix time (ns)."""
    anchor_start: Anchor | None = None
    anchor_end: Anchor | None = None
    error_ns: Amount | None = None
    """Greatest error of the anchors (ns)."""
    wall_drift_ns: Moment | None = None
    """How far the wall clock moved against the run's (ns): more than a little means that it was set."""
    stacks_error_ns: Amount | None = None
    """How well the zero of the sampled stacks is known (ns)."""


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """The traced process, and how it ended; all None while it runs."""

    pid: Number | None = None
    exit_code: Number | None = None
    signal: Number | None = None
    """The signal that ended it; None: none did."""
    wall_ns: Amount | None = None
    """From its start to its end (ns)."""
    cpu_user_ns: Amount | None = None
    cpu_system_ns: Amount | None = None
    stopped_ns: Amount | None = None
    """Time in which it stood still, stopped by a signal such as Ctrl-Z's (ns): part of `wall_ns`; of a stop in which
    dlprof stood too, all but a second at most. None: not known."""
    replaced_by: str | None = None
    """The program that it went on as (`os.execv`), by its path; None: that was not seen."""
    went_on: bool = False
    """It still ran when the program that had started it was over, and dlprof's look at it with that."""


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU of the machine, or another accelerator."""

    gpu: Number | None = None
    """Its number; None: its place in the list."""
    name: str | None = None
    uuid: str | None = None
    kind: str = "gpu"
    """What devices of its sort are called: `gpu`, `tpu`, `xpu`."""


class GpuTracer(msgspec.Struct, frozen=True, kw_only=True):
    """What traced the GPUs, and why that."""

    name: str
    reason: str | None = None


class Thinned(msgspec.Struct, frozen=True, kw_only=True):
    """How much less than it might a probe measured, so that all of them kept their budget."""

    what: str
    """What was made less, with its unit: `samples per second`."""
    before: float = field(name="from")
    """How much there would have been of it."""
    to: float
    """How much there was at last."""
    why: str
    """What it would have cost, as a clause."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a probe."""

    name: str
    state: str = ProbeState.ON
    """A `ProbeState`."""
    reason: str | None = None
    cost_ns: Moment | None = None
    """What it cost: time in the process, or CPU time beside it (ns)."""
    tax_ns: Moment | None = None
    """What of that the run had to wait for, about: wall time (ns)."""
    cost_source: str | None = None
    """How the cost was got."""
    thinned: Thinned | None = None
    """None: it measured all that it was to."""


class Unrecorded(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a run of which the in-process probe's stream tells nothing: that time is unattributed."""

    since_ns: Amount
    """The last moment that the stream tells of."""
    dur_ns: Amount
    """From there to the end of the process (ns)."""
    cause: str
    """A `StreamEnd`."""
    reason: str
    """The same as a clause: `the disk was full`."""

    @property
    def share(self) -> float:
        """Of the wall time, 0 to 1."""
        return self.dur_ns / max(1, self.since_ns + self.dur_ns)


class PhaseThread(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the wall time in which phases are of another thread than the main one: it trained meanwhile."""

    thread: str
    """Its name."""
    thread_id: int
    """Its number in `spans` and `steps`."""
    system_id: int | None = None
    """Its number for the system; None: Pythons before 3.8 do not tell it."""
    start_ns: Amount
    end_ns: Amount


class HealthEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the health section that was known when the script had ended."""

    slug: str
    severity: str
    message: str
    count: Amount | None = None


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """Which process of a distributed training this is."""

    rank: Number
    """Its number, from 0 on."""
    world: Number | None = None
    """How many processes there are; None: not told."""
    local: Number | None = None
    """Its number among those of its machine; None: not told."""
    attempt: Amount = 0
    """How often its launcher had begun anew by then."""
    by: str
    """What told it: an environment variable, or the engine itself (`torch.distributed`)."""


class DataParallel(msgspec.Struct, frozen=True, kw_only=True):
    """How a rank gives its gradients to the others, as its engine told; None: it did not."""

    bytes: Amount | None = None
    """Of the gradients of a step."""
    buckets: Amount | None = None
    """Collectives that they are given in."""
    file: str | None = None
    """Where the model was made data parallel."""
    line: Amount | None = None
    threads: Amount | None = None
    """That the engine computes with."""
    cores: Amount | None = None
    """That the process may use, when the training began."""


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that holds nothing of its own but the runs of the ranks of one training."""

    world: Number | None = None
    """How many there are to be; None: not told."""


class FollowedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A Python below the program that was traced as a run of its own."""

    run: str
    """Its folder, in that of the program's run."""
    pid: Number
    parent: Number
    command: str
    """Its command line; what looks like a secret is hidden, unless the user had them kept."""
    engine: str | None = None
    """The module with whose import its tracing began."""
    ended: str
    """`exited`, `signalled`, `replaced` (by another program, `exec`), `running` when the program was over, or
    `unknown`."""
    exit_code: Number | None = None
    signal: Number | None = None
    wall_ns: Amount | None = None
    """From its first line of dlprof to its end (ns)."""
    ranks: Mapping[str, str] = field(default_factory=dict)
    """Variables that number the processes of a distributed training, as far as it has them."""


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """The Pythons below a program that was traced with `--follow` or `--exec`."""

    runs: tuple[FollowedRun, ...] = ()
    pythons: Amount = 0
    """Pythons that began below it, those that were followed included; one that replaced itself counts again."""
    not_followed: Amount = 0
    """Those that loaded an engine and were not followed, for as many as are allowed were."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    format: str = ""
    """`dlprof.run/1`."""
    dlprof_version: str | None = None
    state: str = RunState.FINISHED
    """A `RunState`."""
    conductor: Conductor | None = None
    created: str = ""
    """When the run was made: ISO 8601, with the offset from UTC."""
    recorded: str | None = None
    """When foreign traces were recorded, if they say so: ISO 8601."""
    command: Command = field(default_factory=Command)
    backend: Backend = field(default_factory=Backend)
    interpreter: Interpreter = field(default_factory=Interpreter)
    packages: Mapping[str, str | None] = field(default_factory=dict)
    """Packages of interest in the interpreter's environment: name to version."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that change how fast training runs."""
    keras: Keras | None = None
    engine: Engine | None = None
    machine: Machine = field(default_factory=Machine)
    git: Git | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    """The settings as they were given, with the origin of each (`dlprof.config.TraceConfig.as_json`)."""
    clock: Clock = field(default_factory=Clock)
    script_folder: str = ""
    """Shortens the names of files; the only absolute path in a run folder."""
    cells: Mapping[str, str] = field(default_factory=dict)
    """Of a notebook: what IPython calls the code of its cells, to what the tables call it."""
    process: Process = field(default_factory=Process)
    gpus: tuple[Gpu, ...] | None = None
    """None: GPUs were not looked at."""
    gpu_tracer: GpuTracer | None = None
    probes: tuple[Probe, ...] = ()
    followed: Followed | None = None
    """None: Pythons below it were not followed."""
    rank: Rank | None = None
    """None: nothing told that it is one of several processes of a training."""
    ranked: Ranked | None = None
    """None: it is a run, no folder of ranks."""
    data_parallel: DataParallel | None = None
    """None: nothing told how gradients are given to other ranks."""
    syncs_of: tuple[str, ...] | None = None
    """Modules of engines of which it was counted where the program asks for values; None: of none."""
    health: tuple[HealthEntry, ...] = ()
    unrecorded: Unrecorded | None = None
    """None: the stream is whole, or the end of the process is not known."""
    phase_threads: tuple[PhaseThread, ...] = ()
    """In order of time; none: phases are of the main thread, as is the rest of the time where there are some."""
    seal: str | None = None
    """Shows to the dlprof of the user who made the run that it did (`dlprof.launch.seal`)."""
    tables_version: Amount = 0
    """Version of the schema that the tables were written in; 0: there are none."""

    def gpu_name(self, number: int) -> str | None:
        """The name of a GPU; None: it is not known."""
        named = {place if gpu.gpu is None else gpu.gpu: gpu.name for place, gpu in enumerate(self.gpus or ())}
        return named.get(number)

    def device_name(self, number: int) -> str:
        """What a device is called: `cpu` for the host (-1), else `gpu:0`, `tpu:3`."""
        if number < 0:
            return "cpu"
        kinds = {place if gpu.gpu is None else gpu.gpu: gpu.kind for place, gpu in enumerate(self.gpus or ())}
        return f"{kinds.get(number, 'gpu')}:{number}"

    @property
    def keras_backend(self) -> str | None:
        """The backend that Keras said it ran on; None: no Keras was seen."""
        return self.keras.backend if self.keras is not None else None

    @property
    def asked_or_told(self) -> str | None:
        """The managed backend that was asked for, else the one that Keras said it ran on; None: not known."""
        asked, told = self.backend.name, self.keras_backend
        return (asked or told) if self.backend.source == RunSource.MANAGED else (told or asked)

    @property
    def ran_on(self) -> str | None:
        """The backend, or without Keras the engine that was loaded; None: none that dlprof knows."""
        return self.asked_or_told or (self.engine.name if self.engine is not None else None)
