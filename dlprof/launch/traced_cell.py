"""One traced stretch of this very process, a notebook's: the probes in it, the sampler beside it.

Nothing of the process is left changed: hooks, trace functions, signal handlers and the right to look at it are as
they were before.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Protocol

from dlprof_probes.inproc import in_place, tracebacks
from dlprof_probes.inproc.line_selection import Selection
from msgspec.structs import replace

from dlprof.config import TraceConfig
from dlprof.launch import budget, payload, probe_settings, stack_sampling
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import ProbeStates, Recorded, clock_between, read_anchor
from dlprof.launch.sampler import Sampler, config_of
from dlprof.launch.sampler import outcome as sampler_outcome
from dlprof.rundir import RunDir, writing_into
from dlprof.schema import process_config
from dlprof.schema.manifest import GpuTracer, Probe
from dlprof.schema.process_config import SamplerReport
from dlprof.schema.vocabulary import ProbeState

_PR_SET_PTRACER = 0x59616D61
_READY_S = 5.0
_STOP_S = 15.0
"""How long the sampler may take to end: it gives py-spy 5 s to write its stacks."""
_BESIDE = ("cores", "gpu", "stacks")


class Cell(Protocol):
    """A cell of a notebook, as its shell runs it."""

    functions: Sequence[FunctionType]
    """Functions that are there already, whose lines are to be counted too."""

    def run(self, counted: Callable[[CodeType], CodeType]) -> BaseException | None:
        """Run it, each piece of its code as `counted` gives it; what it raised, or None."""

    def names(self) -> Mapping[str, str]:
        """What cells are called as compiled, to what the tables call them; asked for after the run."""


def is_loaded(pattern: str) -> bool:
    """Whether a pattern of files or modules, as the probe takes it, names a module that is loaded."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        path = os.path.abspath(file) if isinstance(file, str) else ""  # noqa: PTH100  (as the probe: through no links)
        if Selection.named(path, name, pattern):
            return True
    return False


class TracedCell:
    """Traces a cell once.

    Args:
        config: How to trace; `script` is what the tables call the cell.
        run: The run folder.
    """

    def __init__(self, config: TraceConfig, run: RunDir) -> None:
        self._config = config
        self._run = run
        self._states = ProbeStates.of(config)
        self._sampler: Sampler | None = None
        off = config.gpu_tracer == "off"
        reason = "asked for" if off else "no tool can be put around a process that runs already"
        self._gpu_tracer = GpuTracer(name="off" if off else "framework", reason=reason)

    def go(self, cell: Cell) -> Recorded:
        """Run the cell to its end.

        Raises:
            CannotCreateError: The run folder cannot be written to.
        """
        start = read_anchor()
        try:
            self._start_sampler()
            outcome = self._run_cell(cell)
        finally:
            with _undisturbed():
                self._stop_sampler()
        return Recorded(
            outcome=outcome,
            pid=os.getpid(),
            clock=clock_between(start, read_anchor(), outcome.start_ns),
            gpu_tracer=self._gpu_tracer,
            probes=self._states.all_probes(),
        )

    # -- in the process ----------------------------------------------------------------------------

    def _run_cell(self, cell: Cell) -> Outcome:
        before = resource.getrusage(resource.RUSAGE_SELF)
        start_ns = time.perf_counter_ns()
        probes = None
        try:
            with _undisturbed(later=True):
                probes = self._start_probes(cell)
            raised = cell.run(probes.counted if probes is not None else lambda code: code)
        finally:
            with _undisturbed():
                self._stop_probes(probes)
        end_ns = time.perf_counter_ns()
        after = resource.getrusage(resource.RUSAGE_SELF)
        return Outcome(
            exit_code=_exit_code(raised),
            signal=None,
            start_ns=start_ns,
            end_ns=end_ns,
            user_ns=int((after.ru_utime - before.ru_utime) * 1e9),
            system_ns=int((after.ru_stime - before.ru_stime) * 1e9),
            interrupts=int(isinstance(raised, KeyboardInterrupt)),
            left={},
            killed=False,
        )

    def _start_probes(self, cell: Cell) -> in_place.InPlace | None:
        """The probes inside; None where none are wanted, or where they fail: the cell runs all the same."""
        if not self._config.wants("phases"):
            return None
        with writing_into(self._run.path):
            payload.reserve_status(self._run)
        settings = probe_settings.of_cell(
            self._run, self._config, engine_traces_gpu=self._gpu_tracer.name == "framework"
        )
        try:
            return in_place.InPlace(process_config.as_builtins(settings), cell.functions)
        except Exception as error:  # noqa: BLE001  (whatever it is, the user's cell comes first)
            reason = f"the in-process probe did not start: {type(error).__name__}: {error}"
            self._states.note("phases", ProbeState.FAILED, reason)
            return None

    def _stop_probes(self, probes: in_place.InPlace | None) -> None:
        for problem in probes.stop() if probes is not None else ():
            warnings.warn(f"dlprof could not put everything back: {problem}; restart the notebook", stacklevel=2)
        reason = payload.failure(self._run)
        if reason is not None:
            self._states.note("phases", ProbeState.FAILED, reason)
        payload.status_file(self._run).unlink(missing_ok=True)

    # -- beside it ---------------------------------------------------------------------------------

    def _start_sampler(self) -> None:
        config = config_of(self._config, self._run.raw, os.getpid(), _BESIDE)
        if config is None:
            return
        stacks = {"stacks_hz": self._config.stacks_hz, "stacks_share": budget.of("stacks", self._config)}
        sampler = Sampler(replace(config, conductor=None, **stacks))
        with writing_into(self._run.path):
            sampler.prepare()
        try:
            _allow_tracing_by(sampler.start())
        except OSError as error:
            for name in config.probes:
                self._states.note(name, ProbeState.FAILED, f"the sampler cannot be started: {error.strerror}")
            return
        self._sampler = sampler
        sampler.wait_until_ready(_READY_S)

    def _stop_sampler(self) -> None:
        if self._sampler is None:
            return
        self._sampler.stop(_STOP_S)
        _allow_tracing_by(0)
        reports = self._sampler.reports()
        for name in _BESIDE:
            if self._config.wants(name):
                self._states.put(self._outcome_of(self._sampler, name, reports.get(name)))

    def _outcome_of(self, sampler: Sampler, name: str, report: SamplerReport | None) -> Probe:
        if name == "stacks" and report is not None and sampler.ended is None:
            told = report.reason, report.cpu_ns, report.thinned
            return stack_sampling.outcome(self._run, *told, failed=report.failed)
        return sampler_outcome(name, report, sampler.ended, self._run.disk_full())


def _exit_code(raised: BaseException | None) -> int:
    """What a script that ended so would have ended with."""
    if isinstance(raised, SystemExit):
        return raised.code if isinstance(raised.code, int) else int(raised.code is not None)
    return 0 if raised is None else 1


@contextlib.contextmanager
def _undisturbed(*, later: bool = False) -> Iterator[None]:
    """No Ctrl-C while hooks are put in place or taken back: half of them would be left behind.

    Args:
        later: One that comes meanwhile is handed on at the end; else it is dropped, for the cell is over.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:
        yield  # one that Python did not set could not be put back
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came and later:
            signal.raise_signal(signal.SIGINT)


def _allow_tracing_by(pid: int) -> None:
    """Let a process and what it starts look at this one, where Yama restricts that; 0: nobody any more."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)


def strip_own_frames(error: BaseException) -> None:
    """Take dlprof's frames out of the traceback of an error, and out of those it came from."""
    tracebacks.strip(error, set())
