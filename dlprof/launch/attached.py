"""Looks at a process that runs already, from outside, for a while: cores, memory, I/O, GPUs, sampled stacks.

The process is not changed in any way, and not stopped. From Python 3.14 on `sys.remote_exec` could also start the
probe inside it (`dlprof_probes.inproc.in_place`, as in a notebook); that belongs between `_start` and `_look` here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from dlprof_probes.sidecar.proc import walk

from dlprof.config import PROBES, TraceConfig
from dlprof.launch import budget
from dlprof.launch.children import ending_on_sigterm
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import ProbeStates, Recorded, clock_between, read_anchor
from dlprof.launch.running_process import RunningProcess
from dlprof.launch.sampler import Sampler
from dlprof.launch.sampler import outcome as sampler_outcome
from dlprof.launch.stack_sampling import PythonSearch, StackSampling
from dlprof.rundir import RunDir
from dlprof.schema.manifest import GpuTracer
from dlprof.schema.process_config import SamplerConfig
from dlprof.schema.vocabulary import ProbeState

BESIDE = ("stacks", "cores", "gpu")
"""Probes that look from outside."""
_SAMPLED = ("cores", "gpu")
_INSIDE = "a process that runs already is looked at from outside only"
_TICK_S = 0.1
_STOP_S = 5.0


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
        self._config = config
        self._process = process
        self._run = run
        self._seconds = seconds
        self._states = ProbeStates.of(config)
        for name in PROBES:
            if name not in BESIDE:
                self._states.note(name, ProbeState.OFF, _INSIDE)
        self._sampler: Sampler | None = None
        self._stacks: StackSampling | None = None

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
        self._stop()
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

    def _look(self, start_ns: int) -> None:
        while True:
            passed_s = (time.perf_counter_ns() - start_ns) / 1e9
            left_s = _TICK_S if self._seconds is None else min(_TICK_S, self._seconds - passed_s)
            if left_s <= 0 or self._process.wait(left_s):
                return
            self._process.used()
            if self._stacks is not None:
                self._harmless(self._stacks.tick, "stacks")

    # -- beside it ---------------------------------------------------------------------------------

    def _start(self) -> None:
        self._harmless(self._start_sampler, *_SAMPLED)
        if self._config.wants("stacks"):
            pid = self._process.pid
            python = (lambda: pid) if self._process.is_python() else PythonSearch(pid)
            self._stacks = StackSampling(self._run, self._config, python, tree=True, below=not _is_below(pid))

    def _start_sampler(self) -> None:
        wanted = tuple(name for name in _SAMPLED if self._config.wants(name))
        if not wanted:
            return
        config = SamplerConfig(
            raw=str(self._run.raw),
            pid=self._process.pid,
            conductor=os.getpid(),
            ends_traced=False,
            probes=wanted,
            hz=self._config.cores_hz,
            share=budget.of("cores", self._config),
            keep_arguments=self._config.keep_arguments,
        )
        self._sampler = Sampler(config)
        self._sampler.prepare()
        self._sampler.start()

    def _harmless(self, work: Callable[[], object], *probes: str) -> None:
        """Do some work; where that fails, these probes have failed, and the others go on."""
        try:
            work()
        except Exception as error:  # noqa: BLE001  (whatever it is, what is measured beside is kept)
            for name in probes:
                if self._config.wants(name):
                    self._states.note(name, ProbeState.FAILED, f"{type(error).__name__}: {error}")

    def _stop(self) -> None:
        self._harmless(self._stop_sampler, *_SAMPLED)
        if self._stacks is not None:
            self._harmless(self._stop_stacks, "stacks")
        self._harmless(self._judge_sampler, *_SAMPLED)

    def _stop_sampler(self) -> None:
        if self._sampler is not None:
            self._sampler.stop(_STOP_S)

    def _stop_stacks(self) -> None:
        assert self._stacks is not None  # noqa: S101  (asked by the caller)
        self._stacks.stop(_STOP_S)
        self._states.put(self._stacks.outcome())

    def _judge_sampler(self) -> None:
        if self._sampler is None:
            return
        reports, ended, disk_full = self._sampler.reports(), self._sampler.ended, self._run.disk_full()
        for name in _SAMPLED:
            if self._config.wants(name) and self._states.get(name) is None:
                self._states.put(sampler_outcome(name, reports.get(name), ended, disk_full))


def _is_below(pid: int) -> bool:
    """Whether dlprof itself runs below a process: a shell, a notebook. Its own helpers are none of that one's."""
    tree: dict[int, int] = {}
    walk(pid, 0, tree)
    return os.getpid() in tree
