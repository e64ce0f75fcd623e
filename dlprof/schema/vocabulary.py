"""The words of dlprof, each spelled here and nowhere else: phases, loops, parts of a step, kinds.

Tables, JSON and pages hold these very texts, so a member is what it is stored as: `Phase.FIT_STEPS == "fit.steps"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from types import MappingProxyType

from dlprof_probes import wire

WAITING_FUNCTIONS = frozenset(
    {"join", "wait", "sleep", "select", "poll", "acquire", "accept", "recv", "_wait_for_tstate_lock"}
)
"""Functions of Python's own library in which a thread does nothing."""


class SpanKind(StrEnum):
    """What the traced program was doing in a span: column `kind` of `spans`; the probe's own words."""

    SCRIPT = wire.SpanKind.SCRIPT
    IMPORT = wire.SpanKind.IMPORT
    DATA = wire.SpanKind.DATA
    CONSTRUCT = wire.SpanKind.CONSTRUCT
    COMPILE = wire.SpanKind.COMPILE
    FIT = wire.SpanKind.FIT
    EVALUATE = wire.SpanKind.EVALUATE
    PREDICT = wire.SpanKind.PREDICT
    SAVE = wire.SpanKind.SAVE
    BUILD = wire.SpanKind.BUILD
    GRAPH_COMPILE = wire.SpanKind.GRAPH_COMPILE
    INPUT = wire.SpanKind.INPUT
    EPOCH = wire.SpanKind.EPOCH
    CALLBACKS = wire.SpanKind.CALLBACKS
    WAIT = wire.SpanKind.WAIT
    ON_BATCH = wire.SpanKind.ON_BATCH
    FIRST_RUN = wire.SpanKind.FIRST_RUN
    GRAPH_STAGE = wire.SpanKind.GRAPH_STAGE
    GRAPH_BREAK = wire.SpanKind.GRAPH_BREAK
    GRAPH_CONSTANT = wire.SpanKind.GRAPH_CONSTANT
    REPEATED_PRODUCT = wire.SpanKind.REPEATED_PRODUCT
    OUT_OF_MEMORY = wire.SpanKind.OUT_OF_MEMORY
    EXCEPTION = wire.SpanKind.EXCEPTION
    GROWING_INPUT = wire.SpanKind.GROWING_INPUT
    DLPROF = wire.SpanKind.DLPROF


class RunSource(StrEnum):
    """Where the interpreter of a run came from: `backend.source` of the manifest."""

    MANAGED = "managed"
    PYTHON = "python"
    CURRENT = "current"
    PROGRAM = "program"
    """Any program (`--exec`)."""
    NOTEBOOK = "notebook"
    ATTACHED = "attached"
    """A process that ran already (`dlprof attach`)."""
    FOLLOWED = "followed"
    """A Python below the program, traced from its import of an engine on (`--follow`)."""


class ProcessRole(StrEnum):
    """What a process of a run is: column `role` of `processes`."""

    MAIN = "main"
    """The traced one."""
    WORKER = "worker"
    """Started by `multiprocessing` or one of its kin, to do a part of the script's work."""
    CHILD = "child"
    """Any other that the script, or a process below it, has started."""
    SCRIPT = "script"
    """What an older dlprof called the main one."""


class InputStage(StrEnum):
    """What a thread does for the next batch, by its sampled stack: from the source to the step."""

    READING = "reading"
    """Items are read: files, sockets."""
    DECODING = "decoding"
    """What was read is unpacked: images, compressed files, JSON, pickles."""
    MAKING = "making items"
    """The rest of the data set's own code: transformations, random numbers, waits of its own."""
    COLLATING = "collating"
    """Items are put together to a batch."""
    HANDING_OVER = "handing over"
    """A worker pickles and sends its batch."""
    RESTING = "waiting for work"
    """A worker has nothing to do: as many batches as the queue holds are made."""
    STARTING = "starting and stopping"
    """Workers are started, load what they need, and are stopped."""
    WAITING = "waiting for a batch"
    """What asks for batches waits for the workers."""
    RECEIVING = "receiving"
    """What asks for batches unpacks one that a worker has sent."""
    PINNING = "pinning"
    """A batch is copied into memory that a GPU can read."""


class Phase(StrEnum):
    """Where the main thread's time belongs: column `phase`. Those inside `fit` sum to it."""

    STARTUP = "startup"
    IMPORT = "import"
    DATA = "data"
    CONSTRUCT = "construct"
    COMPILE = "compile"
    FIT = "fit"
    FIT_BUILD = "fit.build"
    FIT_GRAPH_COMPILE = "fit.graph_compile"
    FIT_INPUT = "fit.input"
    FIT_STEPS = "fit.steps"
    FIT_WAIT = "fit.wait"
    """The host waits for the device, or for values of it."""
    FIT_CALLBACKS = "fit.callbacks"
    FIT_VALIDATION = "fit.validation"
    EVALUATE = "evaluate"
    PREDICT = "predict"
    SAVE = "save"
    SCRIPT = "script"
    TEARDOWN = "teardown"
    DLPROF = "dlprof"
    STEPS = "steps"
    """Of a foreign trace: steps that it names, without telling what they are for."""
    OUTSIDE_STEPS = "outside_steps"
    """Of a foreign trace that names steps: what is in none of them."""
    TRACE = "trace"
    """Of a foreign trace that names no steps: all of it."""
    UNATTRIBUTED = "unattributed"

    @property
    def parent(self) -> Phase | None:
        """`fit` for the phases inside it; None for those at the top."""
        return Phase.FIT if self.value.startswith("fit.") else None


_PHASES = frozenset(Phase)


def known_phase(text: str) -> Phase:
    """The phase that a stored run calls so; `unattributed` for one that dlprof does not know."""
    return Phase(text) if text in _PHASES else Phase.UNATTRIBUTED


TOP_PHASES = tuple(phase for phase in Phase if phase.parent is None and phase is not Phase.UNATTRIBUTED)
"""Phases at the top, in the order in which reports list them."""
FIT_PHASES = tuple(phase for phase in Phase if phase.parent is Phase.FIT)
"""Phases inside `fit`, in that order."""


class Loop(StrEnum):
    """What a step belongs to: column `loop`."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"
    DATA = "data"
    """A data set that user code iterates."""
    UNKNOWN = "unknown"
    """Steps of a foreign trace that does not tell what they are for."""


LOOP_OF_SPAN: Mapping[str, Loop] = MappingProxyType(
    {
        SpanKind.FIT: Loop.TRAIN,
        SpanKind.EVALUATE: Loop.TEST,
        SpanKind.PREDICT: Loop.PREDICT,
    }
)
"""The loop that a span of this kind is."""
PHASE_OF_LOOP: Mapping[str, Phase] = MappingProxyType(
    {
        Loop.TRAIN: Phase.FIT_STEPS,
        Loop.TEST: Phase.EVALUATE,
        Loop.PREDICT: Phase.PREDICT,
        Loop.DATA: Phase.DATA,
        Loop.UNKNOWN: Phase.STEPS,
    }
)
"""The phase that the steps of a loop are in."""


class StepTime(StrEnum):
    """How the time of a step was got."""

    MEASURED = "measured"
    """From the steps themselves, each of which was done when it ended."""
    EPOCHS = "epochs"
    """From the time of whole epochs, or calls, over their steps: it was waited for at their end."""
    WINDOW = "window"
    """From the length of a kernel window over its steps, which ran under a tracer."""


class LineSource(StrEnum):
    """How the time of a line is known: column `how` of `lines`."""

    EXACT = "exact"
    """Each time that it ran was counted, by line_profiler. An older dlprof wrote `counted`, or null."""
    SCALED = "scaled"
    """Hits were counted in windows and scaled to the time between them; its time is from sampled stacks, if any."""
    SAMPLED = "sampled"
    """From the sampled stacks that it stood in: it ran where lines are not counted."""

    @classmethod
    def _missing_(cls, value: object) -> LineSource | None:
        return cls.EXACT if value == "counted" else None


class StepPart(StrEnum):
    """What a step consists of, in the order in which a moment is claimed."""

    KERNELS = "kernels"
    """At least one kernel or operator of the model runs."""
    TRANSFER = "transfer"
    """A copy between host and device runs."""
    INPUT = "input"
    """The next batch is waited for, or made by the engine's own threads."""
    SYNC = "sync"
    """The host waits for the device or the engine, which runs nothing."""
    IDLE = "idle"
    """The calling thread waits, and no thread of the engine does anything."""
    DISPATCH = "dispatch"
    """The rest of the step function's call: the framework gets work ready."""
    HOST_PYTHON = "host python"
    """Python functions that the engine calls, and the rest of the step: Keras' own loop, the user's code."""


class Direction(StrEnum):
    """The pass that a kernel belongs to: column `direction`."""

    FORWARD = "forward"
    BACKWARD = "backward"
    UPDATE = "update"


class Bound(StrEnum):
    """What binds a layer: what its kernels could not be faster than, or else did not come near."""

    COMPUTE = "compute"
    """Its operations, at the most that the machine can do."""
    BANDWIDTH = "bandwidth"
    """The bytes that it must move."""
    OVERHEAD = "overhead"
    """What surrounds kernels that are small for what they do."""
    KERNEL = "kernel"
    """The kernels themselves: they are large, and come near neither ceiling."""


class WorkCause(StrEnum):
    """Why a layer takes longer on one side of a comparison."""

    ALIKE = "alike"
    """It does not: times differ by less than a fifth."""
    MORE_WORK = "more-work"
    """It is asked for more operations there."""
    LOWER_RATE = "lower-rate"
    """The same work is done at a lower rate there."""
    BOTH = "both"


class PseudoLayer(StrEnum):
    """What stands in the column `layer` for work that belongs to no layer."""

    LOSS = "loss"
    METRICS = "metrics"
    INPUT = "input"
    OPTIMIZER = "optimizer"
    """Where the optimiser has no name."""
    XLA = "(xla)"
    """What XLA itself inserted, such as a copy."""


class Category(StrEnum):
    """Sorts of operators and kernels, the same for all engines: column `category`."""

    MATMUL = "matmul"
    CONV = "conv"
    RECURRENT = "recurrent"
    NORMALISATION = "normalisation"
    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    EMBEDDING = "embedding"
    OPTIMISER = "optimiser"
    RANDOM = "random"
    DATA_MOVEMENT = "data movement"
    TRANSFER = "transfer"
    COLLECTIVE = "collective"
    COMPILE = "compile"
    OTHER = "other"


def known_category(text: str | None) -> Category:
    """The category that is called so; `other` for one that dlprof does not know, or where there is none."""
    return Category(text) if text in _CATEGORIES else Category.OTHER


_CATEGORIES = frozenset(Category)


class EventKind(IntEnum):
    """What an event of a trace is; `word` is how the column `kind` of `kernel_ops` has it."""

    OPERATOR = 0
    """An operator, or a kernel of it, that runs on the host."""
    KERNEL = 1
    """A kernel that runs on a device."""
    TRANSFER = 2
    """A copy or memset on a device."""
    RUNTIME = 3
    """Work of a runtime or framework for others: launching kernels, scheduling operators."""
    WAIT = 4
    """The calling thread waits for a device or for other threads."""
    INPUT = 5
    """The framework fetches the next batch."""
    ANNOTATION = 6
    """A named range around others: a layer, a step, an NVTX range."""
    PYTHON = 7
    """A call of a Python function."""

    @property
    def word(self) -> str:
        """Its name in tables."""
        return self.name.lower()


class MemoryKind(StrEnum):
    """What memory is held for: column `kind` of `memory_owners`."""

    PARAMETERS = "parameters"
    GRADIENTS = "gradients"
    OPTIMIZER = "optimizer"
    ACTIVATIONS = "activations"
    INPUT = "input"
    WORKSPACE = "workspace"
    """What an engine holds of a step beyond what layers give: gradients of values, copies, room for an operator."""
    OTHER = "other"
    """What is left of the peak: Python, libraries, engines' workspaces and caches."""


HELD_AT_PEAK = "held at the peak of a traced step"
"""`name` of the rows of `memory_owners` that an allocator's own records made, and not shapes."""


class MemoryBasis(StrEnum):
    """How bytes were got: column `how` of `memory_owners`."""

    EXACT = "exact"
    """From the shape and type of an array that was there, or from the record of an allocator."""
    ESTIMATE = "estimate"
    """From shapes of what is made in a step, which the engine may keep shorter, longer, or not at all."""


class Trended(StrEnum):
    """What is told as a trend over the steps of a training (`analysis.trends`)."""

    STEP_TIME = "step_time"
    GRAPHS = "graphs"
    TENSORS = "tensors"
    OBJECTS = "objects"
    BLOCKS = "blocks"
    THREADS = "threads"
    DESCRIPTORS = "descriptors"
    PROCESSES = "processes"


class RunState(StrEnum):
    """How far a run came: `state` of its manifest."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    IMPORTED = "imported"
    """Made of foreign traces."""


class ProbeState(StrEnum):
    """What became of a probe: column `state` of `probes`."""

    ON = "on"
    OFF = "off"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


class StreamEnd(StrEnum):
    """Why the in-process probe's stream ends before the process did."""

    KILLED = "killed"
    """A signal ended the process."""
    LEFT = "left"
    """The process ended, or became another program, past Python's own end: `os._exit`, `exec`."""
    UNSEEN = "unseen"
    """The process ended past Python's own end, or a signal ended it: which is not known."""
    WENT_ON = "went-on"
    """The process had not ended: it was followed, and outlived the program."""
    DISK_FULL = "disk-full"
    FILE_LIMIT = "file-limit"
    """The limit on the size of files (`ulimit -f`)."""
    UNWRITTEN = "unwritten"
    """It could not be written, for another reason."""
    DAMAGED = "damaged"
    """It was written; from some byte on it cannot be read."""
    NO_STREAM = "no-stream"
    """There is none."""


EXACT_LINES = "exact"
"""Among the modules and files of `--lines`: count each line; a file of that name is `./exact`."""
PROBE_CUT = "inproc-cut"
"""Slug of the health line that says what was not recorded, and why."""


class Severity(StrEnum):
    """How much a line of the health section matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Basis(StrEnum):
    """How the time at stake of a finding was got."""

    MEASURED = "measured"
    ESTIMATED = "estimated"


class Ground(StrEnum):
    """What tells that a cause is the cause, besides that time was spent where it is."""

    STATED = "stated"
    """The engine, the system or a setting names it: a compiler's reason, a type, a switch, a counter of stalls."""
    REPEATED = "repeated"
    """Work that once would do was seen again and again, one row or one operation at a time, or growing."""
    MODEL = "model"
    """A model of what it should take says that it takes too long."""
    PLACE = "place"
    """Time passed there: certain by itself, but not that it could be saved."""
    COMPARED = "compared"
    """The other run of a pair spends less there."""


class Whole(StrEnum):
    """What the share of a finding is of."""

    WALL = "the wall time"
    TRACED = "the traced time"
    """Of foreign traces between which, or in whose other processes, time passed that none of them shows."""
    GAP = "the gap"
    LONGER = "what takes longer"


class FindingState(StrEnum):
    """Whether the remedy of a finding was tried, and what came of it."""

    UNTESTED = "untested"
    CONFIRMED = "confirmed"
    PARTLY = "partly"
    REFUTED = "refuted"


CHILD_FACTS = wire.CHILD_FACTS
"""File in the folder of a followed Python that says what it is."""
NO_EXIT_CODE = wire.NO_EXIT_CODE
"""What its file of the exit code holds until it ends by itself."""
MAIN_THREAD = "MainThread"
"""What the first thread of a process is called in sampled stacks."""
