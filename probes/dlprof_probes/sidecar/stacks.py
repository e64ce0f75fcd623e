"""Sampled Python stacks with py-spy, as a process beside the traced one.

Of py-spy's formats only `chrometrace` carries time: microseconds since its recorder was made, which is
right after its arguments were read. So the moment of its start is the anchor; the time that this takes
bounds the error. Long runs are cut into segments, which bounds memory and what a kill can lose.

Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, BinaryIO

from dlprof_probes.sidecar import proc
from dlprof_probes.sidecar.below import PythonBelow, is_python
from dlprof_probes.sidecar.rate import LEAST_HZ, Rate

SEGMENT_S = 300
THINNED = "lines.json.thinned"
"""A file that the probe makes when it counts lines in windows: then their time is from stacks, which must be more."""
THINNED_HZ = 100
_SETTLED_S = 3.0
"""From its start on py-spy reads symbols, and the program its modules, for so long."""
_SEARCH_TAKES = 0.02
"""Share of a core that py-spy takes at the lowest rate only where there are many processes to search and to sample."""
_LIBC = ctypes.CDLL(None)
"""Loaded here, and not between fork and exec, where another thread may hold the lock of the loader."""
_PR_SET_PDEATHSIG = 1


class StackSampler:
    """Runs py-spy on one process, segment after segment.

    Args:
        pid: The traced process.
        raw: Folder of raw artifacts; segments go to `stacks-000.json`, their anchors and what py-spy said to
            `stacks-000.anchor.json`.
        rate_hz: Samples per second.
        tree: Sample every Python among the process and what it starts, not the process alone. Where there is a limit
            on what it may cost this waits until there is one.
        share: Share of the wall time that it may cost; None: no limit.
        apart: Of a tree, gives the processes that have a sampler of their own. Once there is no other Python below
            the process, it is looked at alone; where it is no Python itself, nothing is until there is one.
    """

    def __init__(
        self,
        pid: int,
        raw: Path,
        rate_hz: float,
        *,
        tree: bool = False,
        share: float | None = None,
        apart: Callable[[], Collection[int]] = frozenset,
    ) -> None:
        self.reason: str | None = None
        """Why there are no samples, or not all; None while all is well."""
        self.failed = False
        """Whether that is a failure; else there was nothing, or no right, to look at."""
        self.cpu_ns = 0
        """CPU time of the segments that ended (ns)."""
        self._pid = pid
        self._raw = raw
        self._thinned = str(raw / THINNED)
        self._rate = Rate(max(1, round(rate_hz)), share)
        self._began_ns = 0
        self._start_cpu_ns: int | None = None
        self._below = PythonBelow(pid, apart) if tree else None
        self._looks_below = self._below is not None and (share is None or self._below.is_needed())
        self._segment = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._anchor: dict[str, Any] = {}
        self._timed_out = False
        self._is_renewed = False
        self._waits = False
        self._search_took: float | None = None

    @property
    def pid(self) -> int | None:
        """py-spy's own process; None while there is none."""
        return self._process.pid if self._process is not None else None

    def start(self) -> bool:
        """Start the next segment; returns whether that was possible (else see `reason`)."""
        program = find()
        if program is None:
            self.reason = "py-spy is not installed"
            return False
        if not proc.is_mounted():
            self.reason = f"{proc.NOT_MOUNTED}, and py-spy finds a process there"
            return False
        name = f"stacks-{self._segment:03d}"
        output = str(self._raw / f"{name}.json")
        target = [program, "record", "--pid", str(self._pid), "--format", "chrometrace"]
        options = ["--rate", str(self.rate_hz), "--nonblocking", "--idle", "--threads"]
        options += ["--subprocesses"] if self._looks_below else []
        options += ["--duration", str(SEGMENT_S)]
        before = time.perf_counter_ns()
        try:
            with (self._raw / f"{name}.log").open("wb") as log:
                self._process = self._launch([*target, *options, "--output", output], log)
        except OSError as error:
            self.reason = f"py-spy cannot be started: {error.strerror}"
            return False
        self._began_ns = time.perf_counter_ns()
        self._is_renewed = False
        self._anchor = {
            "before_ns": before,
            "after_ns": time.perf_counter_ns(),
            "rate_hz": self.rate_hz,
            "options": options,
        }
        return True

    @staticmethod
    def _launch(command: list[str], log: BinaryIO) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=_in_child,
        )

    def poll(self) -> None:
        """Start the next segment when one has ended and the traced process has not."""
        self._look_below()
        if self._process is None:
            return
        if os.path.exists(self._thinned) and self._rate.raise_to(THINNED_HZ):  # noqa: PTH110  (hot)
            self._renew()  # the next segment has the new rate
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if pid == 0:
            self._keep_budget()
            return
        self._ended(status, usage.ru_utime + usage.ru_stime)
        if self.reason is None and _alive(self._pid):
            self._waits = not self._looks_below and self._below is not None and not is_python(self._pid)
            if not self._waits:
                self.start()

    def _look_below(self) -> None:
        """See whether a Python has come below the process, or all that are there have samplers of their own."""
        if self._below is None or self._search_took is not None:
            return
        if self._looks_below:
            if self._process is not None and self._below.are_all_apart():
                self._looks_below = False
                self._renew()
        elif self._below.has_come():
            self._looks_below = True
            self._renew()
            if self._waits and _alive(self._pid):
                self._waits = False
                self.start()

    def _renew(self) -> None:
        """End this segment, so that the next one is another way."""
        self._is_renewed = True
        self._signal(signal.SIGINT)

    def _keep_budget(self) -> None:
        """Lower the rate where it costs too much. The segment is ended for it if that is cheaper than going on."""
        assert self._process is not None  # noqa: S101
        passed_s = (time.perf_counter_ns() - self._began_ns) / 1e9
        is_settled = passed_s >= _SETTLED_S
        if (is_settled and not self._rate.is_due) or (cpu_ns := _cpu_ns(self._process.pid)) is None:
            return
        if not is_settled:
            self._start_cpu_ns = cpu_ns  # of the start: symbols are read
            return
        before_hz = self.rate_hz
        is_lowered = self._rate.look(cpu_ns) and self.rate_hz != before_hz
        if self._looks_below and self._rate.hz <= LEAST_HZ and self._rate.taken > _SEARCH_TAKES:
            self._search_took, self._looks_below = self._rate.taken, False
            self._renew()
            return
        if not is_lowered:
            return
        per_s = (cpu_ns - (self._start_cpu_ns or 0)) / max(1.0, passed_s - _SETTLED_S)
        saved = per_s * (1 - self.rate_hz / before_hz) * (SEGMENT_S - passed_s)
        if saved > (self._start_cpu_ns or 0):
            self._looks_below = self._below is not None and self._below.is_needed()
            self._renew()

    @property
    def rate_hz(self) -> int:
        """Samples per second of the next segment."""
        return max(1, round(self._rate.hz))

    def thinned(self) -> dict[str, Any] | None:
        """What was left out to keep the budget; None: nothing was."""
        told = self._rate.thinned()
        if told is None or self._search_took is None:
            return told
        took = f"{100 * self._search_took:.0f} % of a core"
        why = f"{told['why']}; to sample and to search the processes below took {took}: they are left out"
        return {**told, "what": "samples per second, processes below", "why": why}

    def ask_to_stop(self) -> None:
        """Have py-spy write what it has, at its next sample; `stop` waits for that."""
        self._signal(signal.SIGINT)

    def stop(self, timeout_s: float) -> None:
        """End sampling: py-spy writes what it has within `timeout_s` seconds, or is killed."""
        if self._process is None:
            return
        deadline = time.monotonic() + timeout_s
        self.ask_to_stop()
        while self._process is not None:
            pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
            if pid:
                self._ended(status, usage.ru_utime + usage.ru_stime)
            elif time.monotonic() > deadline:
                self._timed_out = True
                self._signal(signal.SIGKILL)
                deadline += 60
            else:
                time.sleep(0.01)

    def _why_missing(self, said: str, code: int, *, wrote: bool) -> str | None:
        if self._came_too_late():
            return None
        return _TIMED_OUT if self._timed_out else explain(said, code, wrote)

    def _came_too_late(self) -> bool:
        """Whether it was ended before it had begun, and is missed by nobody.

        The next segment takes its place; or it was one more, of a run that was over: the process is still there while
        it is cleared.
        """
        ended = self._process is not None and self._process.returncode == -signal.SIGINT
        return ended and (self._is_renewed or self._segment > 0)

    def _signal(self, number: int) -> None:
        if self._process is not None:
            try:
                os.kill(self._process.pid, number)
            except ProcessLookupError:
                pass

    def _ended(self, status: int, cpu_s: float) -> None:
        assert self._process is not None  # noqa: S101
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_ns += int(cpu_s * 1e9)
        name = f"stacks-{self._segment:03d}"
        said = _taken(self._raw / f"{name}.log")
        code, wrote = self._process.returncode, (self._raw / f"{name}.json").is_file()
        self.reason = self._why_missing(said, code, wrote=wrote)
        self.failed = self.reason is not None and has_failed(said, code)
        self._anchor.update({"cpu_ns": int(cpu_s * 1e9), **counts(said), "reason": self.reason})
        try:
            (self._raw / f"{name}.anchor.json").write_text(json.dumps(self._anchor), encoding="utf-8")
        except OSError as error:
            self.reason, self.failed = self.reason or f"cannot write: {error.strerror}", True
        self._segment += 1
        self._process = None


def find() -> str | None:
    """Path of py-spy: beside this interpreter, else on PATH."""
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.is_file() else shutil.which("py-spy")


def counts(said: str) -> dict[str, int | bool | None]:
    """Samples and errors that py-spy counted, and whether it fell behind; None where it did not say."""
    match = re.search(r"Samples: (\d+) Errors: (\d+)", said)
    return {
        "samples": int(match[1]) if match else None,
        "errors": int(match[2]) if match else None,
        "behind": "behind in sampling" in said,
    }


def _taken(log: Path) -> str:
    """What py-spy said; its file is removed. Empty where that went meanwhile."""
    try:
        said = log.read_text(encoding="utf-8", errors="replace")
        log.unlink()
    except OSError:
        return ""
    return said


def has_failed(said: str, code: int) -> bool:
    """Whether a segment that is missing was lost, rather than not to be had."""
    if code == -signal.SIGINT:
        return False
    return code < 0 or not any(re.search(pattern, said) for pattern, _ in _NOT_TO_BE_HAD)


def explain(said: str, code: int, wrote: bool) -> str | None:
    """Why a segment is missing, in one clause for the user; None when it is there."""
    if wrote and code == 0:
        return None
    if code == -signal.SIGINT:  # it can only be told to write what it has once it has begun
        return "the run was over before py-spy had begun"
    if code < 0:
        return f"py-spy was killed by signal {-code}; its last segment is lost"
    for pattern, reason in _REASONS:
        if re.search(pattern, said):
            return reason
    errors = re.findall(r"(?m)^(?:Error|Reason): (.+)$", said)
    last = errors or [line.strip() for line in said.splitlines() if line.strip()]
    return f"py-spy failed: {last[-1] if last else f'exit code {code}'}"


_NOT_TO_BE_HAD = (
    (
        r"(?i)permission denied|operation not permitted|requires? root|EPERM",
        (
            "py-spy may not read the process (no right to ptrace); run as the same user with "
            "`sudo sysctl kernel.yama.ptrace_scope=0`, or in a container with --cap-add SYS_PTRACE"
        ),
    ),
    (
        r"(?i)no such process|process (is not|isn't) running|failed to find",
        "the process ended before py-spy could look at it",
    ),
    (r"No python processes found", "no Python process was found in time"),
)
"""What py-spy says when there is nothing, or no right, to look at, and the reason for the user."""
_REASONS = (*_NOT_TO_BE_HAD, (r"(?i)no space left", "the disk was full"))
"""The same, and when it fails."""
_TIMED_OUT = "py-spy did not write its last segment in time, and was killed"


def _cpu_ns(pid: int) -> int | None:
    """CPU time that a process has taken (ns); None when it is gone."""
    try:
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(words[11]) + int(words[12])) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))
    except (OSError, IndexError, ValueError):
        return None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _in_child() -> None:
    """Between fork and exec: lowest priority, no blocked or ignored signals, and end with the conductor."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    os.nice(19)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
