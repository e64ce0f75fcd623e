"""Looks at a process that runs already, for a while.

Cores, memory, I/O, GPUs and sampled stacks from outside; phases, steps and kernels from inside, where that can be had.
From outside the process is not changed in any way, and not stopped; what the probe inside replaces is put back.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from dlprof_probes.sidecar.proc import walk

from dlprof.config import TraceConfig
from dlprof.errors import UnavailableError
from dlprof.launch import inside, payload
from dlprof.launch.beside import Beside
from dlprof.launch.children import ending_on_sigterm
from dlprof.launch.inside import Inside
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import ProbeStates, Recorded, clock_between, read_anchor
from dlprof.launch.running_process import RunningProcess
from dlprof.launch.stack_sampling import PythonSearch
from dlprof.rundir import RunDir
from dlprof.schema.manifest import GpuTracer
from dlprof.schema.vocabulary import ProbeState

PROBES = ("stacks", "cores", "gpu", *inside.PROBES)
"""Those that a process can be given that runs already: from outside, and inside."""
_NO_TOOL = "no tool can be put around a process that runs already"
_NO_LINES = "code that runs already cannot be counted line by line: lines are from samples"
_NOT_ASKED = "not asked for: the process is looked at from outside only"
_TICK_S = 0.1


@dataclass(frozen=True)
class Looked:
    """What was recorded of a process, and how the look at it ended.

    Attributes:
        recorded: As of a traced run; the exit code is None, for only its parent learns that.
        went_on: Whether the process was still there.
        is_inside: Whether a probe was inside it.
        problems: What that could not put back.
    """

    recorded: Recorded
    went_on: bool
    is_inside: bool
    problems: tuple[str, ...]


class Attached:
    """Looks at a process once.

    Args:
        config: How to look.
        process: What to look at.
        run: The run folder.
        seconds: For how long at most; None: until Ctrl-C, or its end.
    """

    def __init__(self, config: TraceConfig, process: RunningProcess, run: RunDir, seconds: float | None) -> None:
        self._process = process
        self._seconds = seconds
        self._states = ProbeStates.of(config)
        self._config, self._run = config, run
        self._states.note("lines", ProbeState.OFF, _NO_LINES)
        self._beside = Beside(config, run, process.pid, self._states)
        self._inside: Inside | None = None
        self._is_inside = False
        self._problems: tuple[str, ...] = ()

    def go(self) -> Looked:
        """Look until the time is up, Ctrl-C or SIGTERM comes, or the process ends."""
        start = read_anchor()
        before = self._process.used()
        start_ns = time.perf_counter_ns()
        try:
            with ending_on_sigterm():
                self._start()
                self._look(start_ns)
        except KeyboardInterrupt:
            pass
        self._end_inside()
        went_on = not self._process.has_ended()
        end_ns = time.perf_counter_ns()
        user_ns, system_ns = (now - then for now, then in zip(self._process.used(), before, strict=True))
        self._beside.stop()
        outcome = Outcome(
            exit_code=None,
            signal=None,
            start_ns=start_ns,
            end_ns=end_ns,
            user_ns=user_ns,
            system_ns=system_ns,
            interrupts=0,
            left={},
            killed=False,
        )
        clock = clock_between(start, read_anchor(), start_ns)
        tracer = GpuTracer(name="framework" if self._is_inside else "off", reason=_NO_TOOL)
        recorded = Recorded(outcome, self._process.pid, clock, tracer, self._states.all_probes())
        return Looked(recorded, went_on, self._is_inside, self._problems)

    def _start(self) -> None:
        pid = self._process.pid
        python = (lambda: pid) if self._process.is_python() else PythonSearch(pid)
        self._beside.start(python, tree=True, below=not _is_below(pid))
        if not self._config.wants("phases"):
            self._not_inside(ProbeState.OFF, _NOT_ASKED)
            return
        self._inside = Inside(self._config, self._process, self._run)
        try:
            self._inside.begin()
        except UnavailableError as error:
            self._not_inside(ProbeState.UNAVAILABLE, error.message)

    def _end_inside(self) -> None:
        if self._inside is None:
            return
        try:
            reason = self._inside.end() or payload.failure(self._run)
            self._is_inside, self._problems = self._inside.was_there, self._inside.problems
        finally:
            self._inside.remove()
        if reason is not None:
            self._not_inside(ProbeState.FAILED if self._is_inside else ProbeState.UNAVAILABLE, reason)

    def _not_inside(self, state: ProbeState, reason: str) -> None:
        self._inside = None
        for name in inside.PROBES:
            self._states.note(name, state, reason)

    def _look(self, start_ns: int) -> None:
        while True:
            passed_s = (time.perf_counter_ns() - start_ns) / 1e9
            left_s = _TICK_S if self._seconds is None else min(_TICK_S, self._seconds - passed_s)
            if left_s <= 0 or self._process.wait(left_s):
                return
            self._process.used()
            self._beside.tick()


def _is_below(pid: int) -> bool:
    """Whether dlprof itself runs below a process: a shell, a notebook. Its own helpers are none of that one's."""
    tree: dict[int, int] = {}
    walk(pid, 0, tree)
    return os.getpid() in tree
