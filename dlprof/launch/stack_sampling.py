"""py-spy beside the traced process: when it begins, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

import msgspec
from dlprof_probes.sidecar.below import is_python
from dlprof_probes.sidecar.proc import walk
from dlprof_probes.sidecar.stacks import StackSampler

from dlprof.config import TraceConfig
from dlprof.launch import budget
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Probe, Thinned
from dlprof.schema.vocabulary import ProbeState

_LOOK_S = 0.5
"""How often a Python is looked for among what a program has started."""
_READY_S = 5.0
"""How long py-spy waits for the script to begin: before that there is no Python to look at."""
_ALL_APART = "each Python below the program has samples of its own"
_HEADER_BYTES = 100
"""A stream that is longer than this says that the script has begun."""


class StackSampling:
    """Starts py-spy as soon as there is a Python to look at.

    Args:
        run: The run folder.
        config: How many samples per second, and what they may cost.
        python: Gives the process to look at; None: there is none yet.
        tree: The program need not be a Python itself: one that it starts will do.
        below: Sample every Python below it too.
        apart: Gives the processes among those below that have a sampler of their own.
    """

    def __init__(
        self,
        run: RunDir,
        config: TraceConfig,
        python: Callable[[], int | None],
        *,
        tree: bool,
        below: bool = True,
        apart: Callable[[], Collection[int]] = frozenset,
    ) -> None:
        self._run = run
        self._config = config
        self._python = python
        self._tree = tree
        self._below = below
        self._apart = apart
        self._sampler: StackSampler | None = None

    @property
    def pid(self) -> int | None:
        """py-spy's own process; None while there is none."""
        return self._sampler.pid if self._sampler is not None else None

    def tick(self) -> None:
        """Start it if it is time, or its next segment."""
        if self._sampler is None:
            pid = self._python()
            if pid is None:
                return
            self._sampler = StackSampler(
                pid,
                self._run.raw,
                self._config.stacks_hz,
                tree=self._below,
                share=budget.of("stacks", self._config),
                apart=self._apart,
            )
            self._sampler.start()
        self._sampler.poll()

    def ask_to_stop(self) -> None:
        """Have it end at its next sample, which may be a second away; `stop` waits for that."""
        if self._sampler is not None:
            self._sampler.ask_to_stop()

    def stop(self, timeout_s: float) -> None:
        """End it: it writes what it has within so many seconds, or is killed."""
        if self._sampler is not None:
            self._sampler.stop(timeout_s)

    def state_now(self) -> Probe | None:
        """How it goes, while the script runs; None: it was not started yet."""
        if self._sampler is None:
            return None
        reason = self._sampler.reason
        return Probe(name="stacks", state=_state(reason, failed=self._sampler.failed), reason=reason)

    def outcome(self) -> Probe:
        """What became of it in the end."""
        if self._sampler is not None:
            told = self._sampler.thinned()
            thinned = msgspec.convert(told, Thinned) if told else None
            reason = self._sampler.reason or (None if self._run.stack_files() else _ALL_APART)
            return outcome(self._run, reason, self._sampler.cpu_ns, thinned, failed=self._sampler.failed)
        reason = (
            "no Python process was seen in what the program started"
            if self._tree
            else "the process ended before py-spy could look at it"
        )
        return Probe(name="stacks", state=ProbeState.UNAVAILABLE, reason=reason)


def _state(reason: str | None, *, failed: bool) -> ProbeState:
    if reason is None:
        return ProbeState.ON
    return ProbeState.FAILED if failed else ProbeState.UNAVAILABLE


def outcome(
    run: RunDir, reason: str | None, cpu_ns: int | None, thinned: Thinned | None = None, *, failed: bool
) -> Probe:
    """What became of py-spy.

    Args:
        run: The run folder, with its files.
        reason: Why there are no samples, or not all; None: all went well.
        cpu_ns: CPU time that it took (ns).
        thinned: What was left out to keep the budget.
        failed: It had begun; else there are no samples because there was nothing, or no right, to look at.
    """
    if reason is None and any(not file.stat().st_size for file in run.stack_files()):
        reason = "py-spy could not write its samples"
    full = run.disk_full() if reason is not None else None
    state = _state(full or reason, failed=failed or full is not None or bool(run.stack_files()))
    reason = full or reason
    source = "measured: CPU time of py-spy beside the process"
    return Probe(name="stacks", state=state, reason=reason, cost_ns=cpu_ns, cost_source=source, thinned=thinned)


def has_begun(run: RunDir, start_ns: int) -> bool:
    """Whether the script runs, by its stream; after some seconds that is taken for granted."""
    if time.perf_counter_ns() - start_ns > _READY_S * 1e9:
        return True
    stream = run.raw / "inproc.wire"
    return stream.is_file() and stream.stat().st_size > _HEADER_BYTES


class PythonSearch:
    """Looks now and then whether there is a Python among what a program has started."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._next_look = 0.0

    def __call__(self) -> int | None:
        """The program's process, once there is a Python in its tree."""
        now = time.monotonic()
        if now < self._next_look:
            return None
        self._next_look = now + _LOOK_S
        tree: dict[int, int] = {}
        walk(self._root, 0, tree)
        return self._root if any(is_python(pid) for pid in tree) else None
