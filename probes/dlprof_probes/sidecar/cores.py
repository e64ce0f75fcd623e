"""Samples cores, the machine, and the tree of the traced process.

What is read ten times a second comes straight from /proc, one small file each (psutil opens several per
figure); temperature and frequencies, which are read once a second, come from psutil. That is loaded after the first
sample, which is without them, so that a short run has one. Counters are written as they are; percentages are the
reader's work.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dlprof_probes.sidecar import control_groups, proc
from dlprof_probes.sidecar.handles import Handles
from dlprof_probes.sidecar.jsonl import FLUSH_NS, Writer, anchor
from dlprof_probes.sidecar.memory import Limits, Rollups, Spent, Split, split
from dlprof_probes.sidecar.processes import Processes
from dlprof_probes.sidecar.unavailable import Unavailable

FORMAT = "dlprof.cores/1"
SLOW_NS = 1_000_000_000
"""How often memory, frequencies, temperature, switches and I/O are read."""
_EARLY_NS, _EARLY_SLOW_NS = 10 * SLOW_NS, SLOW_NS // 2
"""In the first seconds twice as often: of a short run nothing is known between the last of them and its end."""
_IDLE_NS = 10 * SLOW_NS
"""How often those of a process that does nothing: a cluster's own processes have hundreds of threads, each a file."""
_LOOK_TAKES_NS = 2_000_000
"""CPU time for that in one look: of a process with 30 threads it is half a millisecond."""
_THREADS_TOLD = 4
_RAN_NS = 1_000_000
"""A thread that ran for less is not told."""
_NEAR = 0.75
"""From this share of a limit of memory on each sample is written at once: it may be the last."""


def _opened_stat() -> int:
    try:
        return os.open("/proc/stat", os.O_RDONLY)
    except OSError as error:
        raise Unavailable(f"{proc.NOT_MOUNTED}, and the kernel tells of cores there") from error


class Cores:
    """Writes `cores.jsonl`.

    Rows, by their first item:

    - `["c", time_ns, [[user, system, iowait, steal, idle] per core], own_ticks, [[pid, ticks, rss_pages, threads,
      minor_faults, major_faults] per process]]`: every sample; ticks are cumulative clock ticks.
    - `["m", time_ns, available_bytes, swap_used_bytes, temperature_c, [mhz per core] or null, [[pid, voluntary,
      involuntary, read_bytes, write_bytes, run_ns, wait_ns, main_run_ns, main_wait_ns, calls, anonymous, file, shared,
      swap, peak, address_space, proportional, unique, descriptors] per process], [cpu, memory, io, throttled],
      [address_space, data, group, group_used, killed, descriptors]]`: once a second, at first twice. `wait_ns` is time
      in which threads could run and had no core; then cumulative stalls of the machine, and throttling of the process's
      control group (ns, or null); the last are limits, see `memory.Limits`. Kinds of memory are bytes.
    - `["t", time_ns, [[thread, run_ns, wait_ns] ...]]`: of the traced process's threads beside the main one those that
      ran most since the last time, `_THREADS_TOLD` at most; before the `m` of the same moment.
    - `["h", ...]`: what open descriptors and threads are, where they become more (`handles.Handles`).
    - `["p", ...]`, `["n", ...]`: processes that came and ended (`Processes`).
    """

    def __init__(
        self,
        raw: Path,
        pid: int,
        conductor: int,
        flush_ns: int = FLUSH_NS,
        *,
        program: int | None = None,
        keep_arguments: bool = False,
    ) -> None:
        self._stat = _opened_stat()
        self._pid = pid
        self._next_slow = 0
        self._has_begun = False
        self._first_ns = 0
        self._groups = control_groups.cpu(pid)
        self._limits = Limits(pid)
        self.is_near = False
        """Whether memory may soon run out: the next sample may be the last."""
        self.writer = Writer(raw / "cores.jsonl", self._header(), flush_ns)
        self._handles = Handles(self.writer)
        self._spent = Spent()
        self._details = Details(self._handles, self._spent)
        self._processes = Processes(self.writer, pid, conductor, program=program, keep_arguments=keep_arguments)

    def _header(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "anchor": anchor(),
            "ticks_per_s": os.sysconf("SC_CLK_TCK"),
            "page_bytes": os.sysconf("SC_PAGE_SIZE"),
            "pid": self._pid,
            "cores": os.cpu_count(),
            "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        }

    def trailer(self) -> dict[str, int]:
        """What of the sampler's CPU time went to memory and open descriptors."""
        return {"memory_cpu_ns": self._spent.ns}

    def read_all_next(self) -> None:
        """The next sample is the last: it has what is read once a second, too.

        What the control group counts outlives the process, as that the kernel killed it.
        """
        self._next_slow = 0

    def sample(self) -> None:
        """Take one sample."""
        now = time.perf_counter_ns()
        slow = now >= self._next_slow
        self._processes.look(now, fully=slow)
        processes = self._processes.rows()
        if slow:
            self._first_ns = self._first_ns or now
            often = _EARLY_SLOW_NS if now - self._first_ns < _EARLY_NS else SLOW_NS
            self._next_slow = now + (often if self._has_begun else 0)
            machine, told = self._machine(), self._details.read(now, processes)
            with self._spent:
                limits = self._limits.row()
            threads = self._details.threads.told(self._pid)
            if threads:
                self.writer.row(["t", now, threads])
            self.writer.row(["m", now, *machine, told, self._stalls(), limits])
            self.is_near = _is_near(machine[0], told, limits)
        own = sum(found.row[1] for pid in self._processes.own if (found := proc.stat(pid)) is not None)
        self.writer.row(["c", now, self._per_core(), own, processes])
        self._processes.tell_ended(now)
        if self.is_near:
            self.writer.flush()

    def _per_core(self) -> list[list[int]]:
        rows = []
        for line in os.pread(self._stat, 1 << 18, 0).split(b"\n")[1:]:
            if not line.startswith(b"cpu"):
                break
            user, nice, system, idle, iowait, irq, softirq, steal = (int(word) for word in line.split()[1:9])
            rows.append([user + nice, system + irq + softirq, iowait, steal, idle])
        return rows

    def _machine(self) -> tuple[int, int, float | None, list[float] | None]:
        with self._spent:
            memory = _memory()
        available = memory.get(b"MemAvailable", memory[b"MemFree"])
        begun, self._has_begun = self._has_begun, True
        return available, memory[b"SwapTotal"] - memory[b"SwapFree"], *(_sensors() if begun else (None, None))

    def _stalls(self) -> list[int | None]:
        return [*(_stalled(name) for name in ("cpu", "memory", "io")), _throttled(self._groups)]

    def tree(self) -> list[int]:
        """The traced process and its descendants, as last seen."""
        return self._processes.tree()


class _Detail(NamedTuple):
    """What was told of a process, when it was read, the process's row of that moment, and its open descriptors."""

    read_ns: int
    row: list[int]
    told: list[int | None]
    descriptors: int | None


class Threads:
    """For how long threads of the traced process ran, and waited for a core."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[int, int]] = {}
        self._now: Mapping[int, tuple[int, int]] = {}

    def read(self, times: Mapping[int, tuple[int, int]]) -> None:
        """Take what was read of them: their numbers to both times (ns)."""
        self._now = times

    def told(self, main: int) -> list[list[int]]:
        """Those but the main one that ran most since they were last told: number and both times (ns)."""
        grew = {one: now[0] - self._told.get(one, (0, 0))[0] for one, now in self._now.items() if one != main}
        most = sorted((one for one in grew if grew[one] >= _RAN_NS), key=lambda one: -grew[one])[:_THREADS_TOLD]
        self._told = {one: told for one, told in self._told.items() if one in grew}  # those that are there
        self._told.update((one, self._now[one]) for one in most)
        return [[one, *self._now[one]] for one in most]


class Details:
    """What is dear to read of processes: for each of its threads the kernel has files of its own.

    One of whose row nothing has changed is taken to be as it was, for some seconds. Of many that run, those that were
    not read for longest come first, as far as the time of one look goes; the others are as they were, too.

    Args:
        handles: Counts descriptors.
        spent: Takes what goes to these and to memory.
    """

    def __init__(self, handles: Handles, spent: Spent) -> None:
        self._handles = handles
        self._spent = spent
        self._rollups = Rollups()
        self.threads = Threads()
        self._traced: int | None = None
        self._known: dict[int, _Detail] = {}

    def read(self, now: int, processes: list[list[int]]) -> list[list[int | None]]:
        """Of each process what `Cores` writes once a second; one that could not be read yet is left out.

        Args:
            now: The moment (ns).
            processes: The row of each (`proc.Stat.row`), of the same moment; the first one is read each time.
        """
        pids = [row[0] for row in processes]
        self._traced = pids[0] if pids else None
        with self._spent:
            sizes = self._rollups.read(pids)
        self._known = {pid: self._known[pid] for pid in pids if pid in self._known}
        until = time.thread_time_ns() + _LOOK_TAKES_NS
        for row in [*processes[:1], *sorted(processes[1:], key=self._last_read)]:
            known = self._known.get(row[0])
            if known is None or known.row != row or now - known.read_ns >= _IDLE_NS:
                self._known[row[0]] = _Detail(now, row, self._read_of(row[0]), self._handles_of(now, row))
            if time.thread_time_ns() > until:
                break
        return [
            [*known.told, *sizes.get(pid, (None, None)), known.descriptors]
            for pid in pids
            if (known := self._known.get(pid)) is not None
        ]

    def _read_of(self, pid: int) -> list[int | None]:
        read_bytes, write_bytes, calls = _io(pid)
        switches, status = _statuses(pid)
        with self._spent:
            memory = split(status)
        scheduled = _scheduled(pid)
        if pid == self._traced:
            self.threads.read(scheduled)
        return [pid, *switches, read_bytes, write_bytes, *_sums(scheduled, pid), calls, *memory]

    def _handles_of(self, now: int, row: list[int]) -> int | None:
        with self._spent:
            return self._handles.look(now, row)

    def _last_read(self, row: list[int]) -> int:
        known = self._known.get(row[0])
        return known.read_ns if known is not None else 0


def _is_near(available: int, told: list[list[int | None]], limits: list[int | None]) -> bool:
    """Whether memory may soon run out: that of the machine, of the control group, or of what a process may have."""
    address_space, data, group, used, *_ = limits
    if group is not None and used is not None and used >= _NEAR * group:
        return True
    if available <= (1 - _NEAR) / 2 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        return True
    own = min((limit for limit in (address_space, data) if limit is not None), default=None)
    return own is not None and any((row[_ADDRESS_SPACE] or 0) >= _NEAR * own for row in told)


_ADDRESS_SPACE = 10 + Split._fields.index("address_space")
"""Its place in what is told of a process once a second."""


_SWITCHES = re.compile(rb"voluntary_ctxt_switches:\s+(\d+)")
"""Of one thread: those of its own accord, then, by the end of the same word, the others."""


def _statuses(pid: int) -> tuple[tuple[int | None, int | None], bytes]:
    """Voluntary and involuntary context switches of all threads together, and what the main one's file says."""
    switches = [0, 0]
    seen = False
    main = b""
    for thread in _threads(pid):
        status = proc.read(f"/proc/{pid}/task/{thread}/status")
        if thread == str(pid):
            main = status
        for place, found in enumerate(_SWITCHES.findall(status)):
            switches[place] += int(found)
            seen = True
    return ((switches[0], switches[1]) if seen else (None, None)), main


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")[:256]  # noqa: PTH208
    except OSError:
        return []


def _io(pid: int) -> tuple[int | None, int | None, int | None]:
    """Bytes read and written by system calls, and the number of these calls; None without the right to know."""
    fields = dict(line.split(b": ") for line in proc.read(f"/proc/{pid}/io").split(b"\n") if b": " in line)
    if b"rchar" not in fields:
        return None, None, None
    return int(fields[b"rchar"]), int(fields[b"wchar"]), int(fields[b"syscr"]) + int(fields[b"syscw"])


def _scheduled(pid: int) -> dict[int, tuple[int, int]]:
    """Time on a core and waiting for one (ns) of all threads that are there."""
    times = {}
    for thread in _threads(pid):
        words = proc.read(f"/proc/{pid}/task/{thread}/schedstat").split()
        if len(words) == 3:
            times[int(thread)] = int(words[0]), int(words[1])
    return times


def _sums(times: Mapping[int, tuple[int, int]], pid: int) -> list[int | None]:
    """These of all of them together, and of the main one."""
    if pid not in times:
        return [None] * 4
    return [sum(run for run, _ in times.values()), sum(wait for _, wait in times.values()), *times[pid]]


def _stalled(resource: str) -> int | None:
    """Time in which something on the machine waited for `resource`, since the machine's start (ns)."""
    match = re.search(rb"^some .*total=(\d+)", proc.read(f"/proc/pressure/{resource}"))
    return int(match[1]) * 1000 if match else None


def _throttled(groups: list[str]) -> int | None:
    """Time for which control groups held their processes back (ns).

    Version 2 counts microseconds, version 1 nanoseconds.
    """
    found = [re.search(rb"throttled_(usec|time) (\d+)", proc.read(f"{folder}/cpu.stat")) for folder in groups]
    told = [int(match[2]) * (1000 if match[1] == b"usec" else 1) for match in found if match]
    return sum(told) if told else None


def _memory() -> dict[bytes, int]:
    """Figures of the kernel on memory, by name (bytes)."""
    rows = (line.split() for line in proc.read("/proc/meminfo").splitlines())
    return {row[0].rstrip(b":"): int(row[1]) * 1024 for row in rows if len(row) == 3}


def _sensors() -> tuple[float | None, list[float] | None]:
    return _temperature(), _frequencies()


def _temperature() -> float | None:
    import psutil  # noqa: PLC0415

    try:
        readings = [entry.current for entries in psutil.sensors_temperatures().values() for entry in entries]
    except (OSError, AttributeError, RuntimeError):
        return None
    return max(readings) if readings else None


def _frequencies() -> list[float] | None:
    import psutil  # noqa: PLC0415

    try:
        per_core = [entry.current for entry in psutil.cpu_freq(percpu=True)]
    except (OSError, AttributeError, RuntimeError, NotImplementedError):
        return None
    return [round(value, 1) for value in per_core] if any(per_core) else None
