"""What dlprof knows about an engine, outside of the traced process: one frozen spec, never an import of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field

from dlprof.schema.vocabulary import Category, MemoryKind


class Dispatch(Struct, frozen=True):
    """How a step of the engine returns to who called it."""

    asynchronous: bool = False
    """Whether the step function returns before the device has finished the step."""
    input_inside_step: bool = False
    """Whether the next batch is fetched inside the step function, where the host cannot see the wait."""


class Xla(StrEnum):
    """Where training on an engine lives by the compiler XLA."""

    NEVER = "never"
    ON_GPU = "on GPUs"
    ALWAYS = "always"


class PythonCost(Struct, frozen=True):
    """Work that a switch does in Python, which sampled stacks show."""

    files: tuple[str, ...]
    """Beginnings of the names of the files in which it is done."""
    factor: float
    """What the switch costs in all, as a multiple of that."""


class KernelCost(Struct, frozen=True):
    """What a switch costs in the kernels that are better without it."""

    categories: tuple[Category, ...]
    share: float
    """Share of their time."""


class Switch(Struct, frozen=True):
    """A switch for debugging, or one that gives up speed, as the probe names it in the facts of a training."""

    name: str
    cost: float
    """Share of the steps that it costs on the scenarios, by the exam (`dlprof help exam`); `--confirm` measures it."""
    environment: Mapping[str, str | None] = field(default_factory=dict)
    """Environment variables that switch it off; None: to take away. Empty: the probe switches it off."""
    python: PythonCost | None = None
    """How its cost is known better where stacks were sampled."""
    kernels: KernelCost | None = None
    """How its cost is known better where kernels were traced."""
    runs_eagerly: bool = False
    """Whether it makes all functions run operator by operator: that is eager execution, a cause of its own."""


class StepAccount(Struct, frozen=True):
    """What an engine's own account of a step's memory (`step_bytes`) is the sum of."""

    kinds: tuple[MemoryKind, ...]
    """What of the estimates by shapes is in it."""
    rest: MemoryKind
    """What it has beyond these."""
    unit_bytes: int = 1
    """It is told in whole multiples of this."""


class ComputedWeights(Struct, frozen=True):
    """How an engine computes a weight out of others whenever its layer looks at it."""

    layer: str
    """What the names of layers have that compute one."""
    files: tuple[str, ...]
    """Beginnings of the names of files through which that is done."""
    once: str
    """How it is computed once for all calls of the layer in a step."""


class Einsum(Struct, frozen=True):
    """An `einsum` that multiplies several arrays from left to right."""

    operators: tuple[str, ...]
    """What its products are in a trace."""
    ordered_by: str
    """The package by which the engine finds the best order, where that can be imported."""


class EngineSpec(Struct, frozen=True):
    """An engine: the library that runs the kernels, under Keras or alone."""

    name: str
    """As the probe, the windows and the tables call it."""
    title: str
    """As its makers write it."""
    module: str
    """Its top-level module."""
    distributions: tuple[str, ...]
    """Names under which the registry of packages may have it, the likeliest first."""
    series: str = ""
    """PEP 440 specifier of the versions that this speaks of, where two specs share a module."""
    keras_series: str = ">=2.4"
    """PEP 440 specifier of the versions of Keras that run on those."""

    # -- the process -----------------------------------------------------------------------------------
    under_keras: Dispatch = Dispatch()
    """How steps that Keras makes return."""
    alone: Dispatch = Dispatch()
    """How those of a script without Keras do."""
    runs_on: bool = False
    """Whether work goes on when a step has returned, though the outputs are there: the update of the weights does."""
    probe: Path | None = None
    """File of its half in the traced process, for a plug-in: it is copied beside those that come with dlprof."""

    # -- its traces ------------------------------------------------------------------------------------
    window_format: str | None = None
    """Name of the format (`dlprof.ingest.formats`) of its kernel windows; None: it has no tracer."""
    waits_are_idle: bool = False
    """Whether its tracer shows the caller's wait for the engine's own threads, so that a wait in which none of them
    works is idle time; else such a wait is one for a device."""
    python_operators: tuple[str, ...] = ()
    """Operators that call a function of Python: what runs in it is no kernel."""

    # -- its memory ------------------------------------------------------------------------------------
    step_account: StepAccount | None = None
    """What its own account of a step has; None: it gives none."""

    # -- its Python code, in sampled stacks ---------------------------------------------------------------
    packages: frozenset[str] = frozenset()
    """Top-level packages that any training on it imports."""
    input_files: tuple[str, ...] = ()
    """Parts of the names of files through which it calls for a batch."""
    operator_files: tuple[str, ...] = ()
    """Beginnings of the names of files through which an operator calls Python."""
    generated_files: tuple[str, ...] = ()
    """Parts of the names of files of Python that it writes itself, out of the user's or anew."""
    validating_files: tuple[str, ...] = ()
    """Beginnings of the names of files in which its distributions check their arguments, unless told not to."""
    backward_functions: tuple[str, ...] = ()
    """Functions that go back through operators which ran one by one."""
    gradients_at_once: str | None = None
    """How gradients of all variables are taken in one call."""
    seeding: str | None = None
    """How a script fixes the numbers that its initial weights are drawn from, such as `call torch.manual_seed(0)`."""
    session_functions: tuple[str, ...] = ()
    """Functions that run the part of a graph which a script asks for: what two of its runs share is computed twice."""
    starts_operators: bool = False
    """Whether lines of a script without Keras start its operators themselves: a stack that ends there may be in their
    C++, which leaves no frame."""
    eager_files: tuple[str, ...] = ()
    """Beginnings of the names of files whose functions start one operation for whoever calls them; empty: it compiles
    no functions, or that is usual."""
    executing_files: tuple[str, ...] = ()
    """Beginnings of the names of files whose functions run an operation on the calling thread: a stack that ends there
    stands in its kernel, or in what starts that."""
    eager_within: tuple[str, ...] = ()
    """Beginnings of the names of files that stand around such operations where they are a network's; empty: the user's
    own line starts them, or nearly."""
    losses: tuple[str, ...] = ()
    """Beginnings of the names of files with its own losses, where they are networks beside the script's own."""
    tracing_files: tuple[str, ...] = ()
    """Beginnings of the names of files through which it runs a function once to make a graph of it."""
    compile_with: str = ""
    """How a script has a function of its own compiled."""
    compiled_functions: tuple[str, ...] = ()
    """Functions that run a graph which was compiled, through the same files as single operations."""
    compiling_saves: float = 0.93
    """Share of what a loop of the script's own takes to start operations one by one that a compiled function saves: of
    what steps took outside of operators four pairs of runs of the outside exam saved 69, 93, 99 and 100 %."""
    callback_files: tuple[str, ...] = ()
    """Beginnings of the names of files through which a compiled function calls Python, which is no input of it."""
    graph_functions: tuple[str, ...] = ()
    """Functions that take new operations over into a graph that runs already."""
    densifying_operators: tuple[str, ...] = ()
    """Operators that make a gradient of all rows out of one that has only the rows which were looked up."""
    letting_gradients_go: tuple[str, ...] = ()
    """Functions that let the gradients of a step go, whose memory is given back there."""
    array_making_updates: tuple[str, ...] = ()
    """Operators that make a new array of results where an update of weights goes operator by operator."""
    computed_weights: ComputedWeights | None = None
    """Weights that are computed out of others; None: none is, or its traces do not tell."""
    einsum: Einsum | None = None
    """Its `einsum`, if that goes from left to right; None: it finds the best order by itself, or has none."""
    updating_functions: tuple[str, ...] = ()
    """Functions that give a changed copy of a whole array; a compiled function overwrites it where it may."""
    update_in_place: str = ""
    """How an array is changed without a copy of it."""
    session_files: tuple[str, ...] = ()
    """Beginnings of the names of files whose sessions run its graphs: each session makes a graph ready for itself."""
    waiting_functions: tuple[str, ...] = ()
    """Functions that wait for a value and bring it to the host."""

    # -- what its trainings can gain ---------------------------------------------------------------------
    threads_in_step: bool = False
    """Whether its threads share each operation evenly (OpenMP), so that all wait for the one that has no core."""
    compiles_steps: bool = False
    """Whether Keras compiles steps for it unless told otherwise."""
    eager_compiles: bool = False
    """Whether operators that run one by one are compiled one by one, too."""
    xla: Xla = Xla.NEVER
    """Where it lives by XLA."""
    joins_steps: bool = False
    """Whether several steps can be one execution (`steps_per_execution`)."""
    tunes_input: bool = False
    """Whether its input pipelines are tuned, while they run, by a thread that sleeps longer and longer."""
    double_cost: float = 0.35
    """Share of kernels' time that 64-bit floats cost against 32-bit ones.

    Measured on two cores of an AMD EPYC (2026-11-27), of the kernels of a dense, a convolutional and a recurrent
    network: PyTorch 0.33 to 0.34, TensorFlow 0.33 to 0.58; of whole steps of a dense and a convolutional one, twice
    each: JAX 0.53 to 0.61, MXNet 0.34 to 0.50. Products alone took
    0.50 to 0.58, convolutions 0.43 to 0.83, the update of large weights 0.41 to 0.68.
    """
    half_cost: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Share of kernels' time that floats of 16 bits cost on a processor which has no products of them.

    By their type, then by category. Measured on an AMD EPYC without AVX-512 (2026-11-28), single operators and steps of
    small networks, with their way back, against 32 bits: PyTorch's products and convolutions 8 to 8.4 x in both types;
    TensorFlow's products 1.2 to 1.3 x, its convolutions 2.3 to 3.3 x (float16) and 8 to 9.4 x (bfloat16). JAX computes
    them in 32 bits: 0.7 to 1.3 x.
    """
    switches: tuple[Switch, ...] = ()
    """Its switches for debugging."""


UNKNOWN = EngineSpec(name="", title="an engine that dlprof does not know", module="", distributions=())
"""What is assumed where the engine is not known: it does nothing out of the ordinary."""
