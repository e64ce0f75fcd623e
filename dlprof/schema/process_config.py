"""What dlprof tells the processes that measure: the traced one, and the sampler beside it; and what that one answers.

Both read plain JSON: the traced process has the standard library of Python 3.6 only. Missing is null.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import field

from dlprof.schema.manifest import Thinned
from dlprof.schema.vocabulary import ProbeState


class LineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How lines are counted."""

    patterns: tuple[str, ...] = ()
    """More modules and files, beyond the script and what lies beside it."""
    package: str | None = None
    """Folder that holds line_profiler; None: the interpreter has its own."""
    share: float | None = None
    """Share of the wall time that it may cost: in windows where counting each line is dear; None: no limit."""


class KernelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How kernels are traced."""

    mode: str
    """`windows` of some steps, or `all` of fit, evaluate and predict."""
    steps: int
    """Steps of a window, at most."""
    share: float | None = None
    """Share of the wall time that windows may cost; None: no limit."""
    gpu: bool = True
    """Whether the engine's tracer takes in GPUs: two tracers cannot have one at once."""


class HeapSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How allocations are recorded."""

    package: str
    """Folder that holds memray."""
    most_bytes: int
    """Size of its file at which recording ends."""


class ProcessConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What the probe inside the traced process is told (`dlprof_probes.inproc.boot`)."""

    raw: str
    """Folder of the raw artifacts."""
    status: str
    """File for the probe's last words, whose space is reserved."""
    script: str
    """Path of the script, or name of the module; of a cell, what the tables call it."""
    module: str | None = None
    """Module to run, as `python -m` would; None: `script` is a file."""
    argv: tuple[str, ...] = ()
    """`sys.argv` of the script."""
    lines: LineSettings | None = None
    """None: lines are not counted."""
    kernels: KernelSettings | None = None
    """None: kernels are not traced."""
    heap: HeapSettings | None = None
    """None: allocations are not recorded."""
    engine: str | None = None
    """Module of the engine that a script without Keras was asked to run on; None: the first known one that it loads."""
    engine_plugins: Mapping[str, str] = field(default_factory=dict)
    """Engines of plug-ins: name to the file of the half that is loaded in the process."""
    live: bool = False
    """Whether someone looks on: records leave the process sooner."""
    pid: str | None = None
    """File that takes the process number: under a GPU tool dlprof starts another process; None: it is known."""
    overrides: Mapping[str, Any] | None = None
    """Settings that a trial run takes instead of the script's own."""
    follow: str | None = None
    """Folder that follows Python children of the script, in front on its PYTHONPATH; None: they are not followed."""


class SamplerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What the sampler is told (`dlprof_probes.sidecar`)."""

    raw: str
    """Folder of the raw artifacts."""
    pid: int
    """The traced process."""
    conductor: int | None
    """The dlprof that waits for it; None: the traced process is itself the one, and is never ended."""
    program: int | None = None
    """The process that this dlprof started, where the traced one is below that; None: the traced one is it."""
    ends_traced: bool = True
    """Whether the traced process is ended with the dlprof that waits for it; never one that ran before."""
    probes: tuple[str, ...]
    """Those of `cores`, `gpu` and `stacks` that are wanted."""
    hz: float
    """Samples of cores and GPUs per second."""
    stacks_hz: float | None = None
    """Samples of Python stacks per second; None: they are not the sampler's affair."""
    share: float | None = None
    """Share of the wall time that sampling cores and GPUs may cost; None: no limit."""
    stacks_share: float | None = None
    """The same of Python stacks."""
    keep_arguments: bool = False
    """Whether command lines are written down as they are: else secrets on them are hidden."""
    live: bool = False
    """Whether someone looks on: samples reach the disk sooner."""


class SamplerReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the sampler says of one of its probes."""

    state: str = ProbeState.ON
    """A `ProbeState`; of stacks, the files tell."""
    reason: str | None = None
    failed: bool = False
    """Of stacks: they were begun and are not whole; else, with a reason, they were not to be had."""
    cpu_ns: int | None = None
    """CPU time that it took (ns), where that can be said of it alone."""
    thinned: Thinned | None = None
    """What was left out to keep the budget; None: nothing was."""


class ChildFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a followed Python says of itself when it imports an engine (`dlprof_probes.inproc.followed`)."""

    pid: int
    parent: int
    boot_ns: int
    """When it first ran a line of dlprof, on the run's clock: right after Python's own start."""
    begun_ns: int
    """When its probe began to load."""
    engine: str
    """The module that it was about to import."""
    command: tuple[str, ...]
    folder: str
    """Its working directory then."""
    executable: str
    python: str
    implementation: str
    worker: bool = False
    """A worker of `multiprocessing` that is about to make itself a rank: `command` is that of the program."""
    ranks: Mapping[str, str] = field(default_factory=dict)
    """Variables that number the processes of a distributed training, as far as it has them."""
    started: int | None = None
    """When the kernel made the process (clock ticks since boot): the same across `exec`. None: `/proc` is not there."""


def decode_facts(content: bytes) -> ChildFacts | None:
    """What such a file holds; None: nothing that makes sense."""
    try:
        return msgspec.json.decode(content, type=ChildFacts)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def encode(config: ProcessConfig | SamplerConfig) -> bytes:
    """A configuration as the file that its process reads: ASCII, for paths and arguments need not be UTF-8."""
    return json.dumps(msgspec.to_builtins(config)).encode("ascii")


def as_builtins(config: ProcessConfig) -> dict[str, Any]:
    """A configuration as the same process takes it, without a file."""
    return json.loads(encode(config))  # type: ignore[no-any-return]


def decode_reports(content: bytes) -> dict[str, SamplerReport]:
    """What the sampler said of its probes, by name; nothing where it was killed while it wrote."""
    try:
        return msgspec.json.decode(content, type=dict[str, SamplerReport])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
