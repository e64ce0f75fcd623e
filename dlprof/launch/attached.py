"""Looks at a process that runs already, from outside, for a while: cores, memory, I/O, GPUs, sampled stacks.

The process is not changed in any way, and not stopped. From Python 3.14 on `sys.remote_exec` could also start the
probe inside it (`dlprof_probes.inproc.in_place`, as in a notebook); that belongs between `_start` and `_look` here.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from dlprof_probes.sidecar.proc import walk

from dlprof.config import PROBES, TraceConfig
from dlprof.launch.beside import Beside
from dlprof.launch.children import ending_on_sigterm
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import ProbeStates, Recorded, clock_between, read_anchor
from dlprof.launch.running_process import RunningProcess
from dlprof.launch.stack_sampling import PythonSearch
from dlprof.rundir import RunDir
from dlprof.schema.manifest import GpuTracer
from dlprof.schema.vocabulary import ProbeState

BESIDE = ("stacks", "cores", "gpu")
"""Probes that look from outside."""
_INSIDE = "a process that runs already is looked at from outside only"
_TICK_S = 0.1


@dataclass(frozen=True)
class Looked:
    """What was recorded of a process, and how the look at it ended.

    Attributes:
        recorded: As of a traced run; the exit code is None, for only its parent learns that.
        went_on: Whether the process was still there.
    """

    recorded: Recorded
    went_on: bool


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
        for name in PROBES:
            if name not in BESIDE:
                self._states.note(name, ProbeState.OFF, _INSIDE)
        self._beside = Beside(config, run, process.pid, self._states)

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
        tracer = GpuTracer(name="off", reason=_INSIDE)
        return Looked(Recorded(outcome, self._process.pid, clock, tracer, self._states.all_probes()), went_on)

    def _start(self) -> None:
        pid = self._process.pid
        python = (lambda: pid) if self._process.is_python() else PythonSearch(pid)
        self._beside.start(python, tree=True, below=not _is_below(pid))

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
