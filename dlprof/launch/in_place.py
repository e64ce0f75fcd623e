"""One traced stretch of this very process, a notebook's: the probes in it, the sampler beside it.

Nothing of the process is left changed: hooks, trace functions, signal handlers and the right to look at it are as
they were before.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Protocol

from dlprof_probes.inproc import in_place, tracebacks
from dlprof_probes.sidecar.jsonl import anchor

from dlprof.config import PROBES, TraceConfig
from dlprof.launch import payload
from dlprof.launch.process import Outcome
from dlprof.launch.session import stop_sampler
from dlprof.rundir import RunDir, writing_into
from dlprof.schema.manifest import GpuTracer

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


@dataclass
class Session:
    """Traces a cell once; takes the place of `launch.session.Session`.

    Attributes:
        states: State of each probe as far as it is known here: name to {state, reason, ...}.
        clock: Anchors of the run's clock.
        pid: This process.
    """

    config: TraceConfig
    run: RunDir
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    clock: dict[str, Any] = field(default_factory=dict)
    pid: int = field(default_factory=os.getpid)
    gpu_tracer: GpuTracer = field(init=False)
    _sampler: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        off = self.config.gpu_tracer == "off"
        reason = "asked for" if off else "no tool can be put around a process that runs already"
        self.gpu_tracer = GpuTracer(name="off" if off else "framework", reason=reason)
        for name in PROBES:
            if not self.config.wants(name):
                self.states[name] = {"state": "off", "reason": "not asked for"}

    def go(self, cell: Cell) -> Outcome:
        """Run the cell to its end.

        Raises:
            CannotCreateError: The run folder cannot be written to.
        """
        self.clock = {"anchor_start": anchor()}
        try:
            self._start_sampler()
            outcome = self._run(cell)
        finally:
            with _undisturbed():
                self._stop_sampler()
        self.clock["anchor_end"] = anchor()
        return outcome

    # -- in the process ----------------------------------------------------------------------------

    def _run(self, cell: Cell) -> Outcome:
        before = resource.getrusage(resource.RUSAGE_SELF)
        self.clock["origin_perf_ns"] = start_ns = time.perf_counter_ns()
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
            exit_code=_exit_code(raised), signal=None, start_ns=start_ns, end_ns=end_ns,
            user_ns=int((after.ru_utime - before.ru_utime) * 1e9),
            system_ns=int((after.ru_stime - before.ru_stime) * 1e9),
            interrupts=int(isinstance(raised, KeyboardInterrupt)), left={}, killed=False,
        )  # fmt: skip

    def _start_probes(self, cell: Cell) -> in_place.InPlace | None:
        """The probes inside; None where none are wanted, or where they fail: the cell runs all the same."""
        if not self.config.wants("phases"):
            return None
        with writing_into(self.run.path):
            status = payload.reserve_status(self.run)
        kernels = {"mode": self.config.kernels, "steps": self.config.kernel_steps,
                   "gpu": self.gpu_tracer.name == "framework"}  # fmt: skip
        config = {
            "raw": str(self.run.raw),
            "status": str(status),
            "script": str(Path.cwd() / self.config.script),
            "lines": {"patterns": list(self.config.lines), "package": None} if self.config.wants("lines") else None,
            "kernels": kernels if self.config.wants("kernels") else None,
            "engine_plugins": payload.engine_plugins(),
        }
        try:
            return in_place.InPlace(config, cell.functions)
        except Exception as error:  # noqa: BLE001  (whatever it is, the user's cell comes first)
            reason = f"the in-process probe did not start: {type(error).__name__}: {error}"
            self.states["phases"] = {"state": "failed", "reason": reason}
            return None

    def _stop_probes(self, probes: in_place.InPlace | None) -> None:
        for problem in probes.stop() if probes is not None else ():
            warnings.warn(f"dlprof could not put everything back: {problem}; restart the notebook", stacklevel=2)
        reason = payload.failure(self.run)
        if reason is not None:
            self.states["phases"] = {"state": "failed", "reason": reason}
        (self.run.raw / "inproc.status").unlink(missing_ok=True)

    # -- beside it ---------------------------------------------------------------------------------

    def _start_sampler(self) -> None:
        wanted = [name for name in _BESIDE if self.config.wants(name)]
        if not wanted:
            return
        config = {
            "raw": str(self.run.raw), "pid": self.pid, "conductor": None, "probes": wanted,
            "hz": self.config.cores_hz, "stacks_hz": self.config.stacks_hz,
        }  # fmt: skip
        path = self.run.raw / "sampler-config.json"
        with writing_into(self.run.path):
            path.write_text(json.dumps(config), encoding="utf-8")
        try:
            self._sampler = subprocess.Popen(
                [sys.executable, "-m", "dlprof_probes.sidecar", str(path)], stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            for name in wanted:
                self.states[name] = {"state": "failed", "reason": f"the sampler cannot be started: {error.strerror}"}
            return
        _allow_tracing_by(self._sampler.pid)
        deadline = time.monotonic() + _READY_S
        ready = self.run.raw / "sampler.json"
        while not ready.is_file() and self._sampler.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)

    def _stop_sampler(self) -> None:
        if self._sampler is None:
            return
        stop_sampler(self._sampler, _STOP_S)
        _allow_tracing_by(0)
        path = self.run.raw / "sampler.json"
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            told = {}
        lost = {"state": "failed", "reason": "the sampler did not start, or was killed"}
        if "stacks" in told:
            told["stacks"] = _stacks_state(self.run, told["stacks"])
        self.states.update({name: told.get(name, lost) for name in _BESIDE if self.config.wants(name)})
        for spent in (path, self.run.raw / "sampler-config.json"):
            spent.unlink(missing_ok=True)


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


def _stacks_state(run: RunDir, told: dict[str, Any]) -> dict[str, Any]:
    found = list(run.raw.glob("stacks-[0-9][0-9][0-9].json"))
    state = "on" if told["reason"] is None else "failed" if found else "unavailable"
    source = "measured: CPU time of py-spy beside the process"
    return {"state": state, "reason": told["reason"], "cost_ns": told["cpu_ns"], "cost_source": source}


def _allow_tracing_by(pid: int) -> None:
    """Let a process and what it starts look at this one, where Yama restricts that; 0: nobody any more."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)


def strip_own_frames(error: BaseException) -> None:
    """Take dlprof's frames out of the traceback of an error, and out of those it came from."""
    tracebacks.strip(error, set())
