"""Samples of cores, the machine and the tree of the traced process, from what the kernel tells."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest
from dlprof_probes.sidecar import control_groups, cores, memory, proc
from dlprof_probes.sidecar.handles import Handles
from dlprof_probes.sidecar.memory import Spent
from dlprof_probes.sidecar.unavailable import Unavailable

from tests.unit.sidecar.conftest import Kernel

STATUS = b"Name:\tpython\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n"


def test_switches_are_those_of_all_threads(kernel: Kernel) -> None:
    """And unknown where no thread can be asked."""
    kernel.folders["/proc/42/task"] = ["42", "43"]
    kernel.files["/proc/42/task/42/status"] = STATUS % (5, 2)
    kernel.files["/proc/42/task/43/status"] = STATUS % (10, 1)

    assert cores._statuses(42)[0] == (15, 3)
    assert cores._statuses(99)[0] == (None, None)


def test_a_process_that_does_nothing_is_read_every_ten_seconds(kernel: Kernel) -> None:
    """Hundreds of threads of a cluster wait, and each has files of its own; what runs is read each time."""
    kernel.folders["/proc/42/task"] = ["42"]
    details, found = cores.Details(Handles(cast("Any", SimpleNamespace(row=list))), Spent()), []

    for second, ticks in ((0, 7), (1, 7), (9, 7), (11, 7), (12, 8)):
        kernel.files["/proc/42/task/42/status"] = STATUS % (second, 0)
        found.append(details.read(second * 10**9, [[42, ticks, 100, 1, 0, 0, 0]])[0][1])

    assert found == [0, 0, 0, 11, 12]


def test_of_many_processes_those_are_read_that_were_not_for_longest(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a look has the time for one beside the traced process, the others keep what was told of them."""
    pids = (42, 43, 44)
    used_ns = itertools.count(0, cores._LOOK_TAKES_NS)
    monkeypatch.setattr(cores, "time", SimpleNamespace(thread_time_ns=lambda: next(used_ns)))
    details, found = cores.Details(Handles(cast("Any", SimpleNamespace(row=list))), Spent()), []

    for second in (1, 2, 3, 4):
        for pid in pids:
            kernel.folders[f"/proc/{pid}/task"] = [str(pid)]
            kernel.files[f"/proc/{pid}/task/{pid}/status"] = STATUS % (second, 0)
        told = details.read(second * 10**9, [[pid, second, 100, 1, 0, 0, 0] for pid in pids])
        found.append({row[0]: row[1] for row in told})

    assert found == [{42: 1, 43: 1}, {42: 2, 43: 1, 44: 2}, {42: 3, 43: 3, 44: 2}, {42: 4, 43: 3, 44: 4}]


def test_input_and_output_are_bytes_and_calls(kernel: Kernel) -> None:
    """Unknown without the right to know."""
    kernel.files["/proc/42/io"] = b"rchar: 100\nwchar: 200\nsyscr: 3\nsyscw: 4\nread_bytes: 0\n"

    assert cores._io(42) == (100, 200, 7)
    assert cores._io(43) == (None, None, None)


def test_time_on_a_core_and_waiting_for_one(kernel: Kernel) -> None:
    """Of all threads, and of the main one."""
    kernel.folders["/proc/42/task"] = ["42", "43"]
    kernel.files["/proc/42/task/42/schedstat"] = b"1000 50 7\n"
    kernel.files["/proc/42/task/43/schedstat"] = b"2000 10 9\n"

    assert cores._sums(cores._scheduled(42), 42) == [3000, 60, 1000, 50]
    assert cores._sums(cores._scheduled(99), 99) == [None] * 4


def test_stalls_of_the_machine_are_nanoseconds(kernel: Kernel) -> None:
    """The kernel counts microseconds; an older one does not tell."""
    kernel.files["/proc/pressure/io"] = b"some avg10=0.00 avg60=0.00 total=250\nfull avg10=0.00 total=9\n"

    assert (cores._stalled("io"), cores._stalled("cpu")) == (250_000, None)


@pytest.mark.parametrize(
    ("groups", "file", "text", "expected"),
    [
        (b"0::/user\n", "/sys/fs/cgroup/user/cpu.stat", b"throttled_usec 7\n", 7000),
        (b"4:cpu,cpuacct:/docker/1\n", "/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.stat", b"throttled_time 7\n", 7),
        (b"0::/\n", "/sys/fs/cgroup/cpu.stat", b"usage_usec 3\n", None),
        (b"9:memory:/x\n", "/sys/fs/cgroup/x/cpu.stat", b"throttled_usec 7\n", None),
        (b"", "/nowhere", b"", None),
    ],
)
def test_throttling_of_a_control_group(
    kernel: Kernel, groups: bytes, file: str, text: bytes, expected: int | None
) -> None:
    """Version 2 counts microseconds, version 1 nanoseconds."""
    kernel.files.update({"/proc/42/cgroup": groups, file: text})

    assert cores._throttled(control_groups.cpu(42)) == expected


def test_throttling_of_groups_around_a_control_group_counts_too(kernel: Kernel) -> None:
    """As the limit of a pod around its containers."""
    kernel.files.update(
        {
            "/proc/42/cgroup": b"0::/pod/one\n",
            "/sys/fs/cgroup/pod/one/cpu.stat": b"throttled_usec 7\n",
            "/sys/fs/cgroup/pod/cpu.stat": b"throttled_usec 3\n",
        }
    )

    assert cores._throttled(control_groups.cpu(42)) == 10_000


@pytest.mark.parametrize(
    ("readings", "expected"),
    [({"a": [SimpleNamespace(current=40.0), SimpleNamespace(current=61.5)]}, 61.5), ({}, None), (OSError, None)],
)
def test_the_temperature_is_the_highest(monkeypatch: pytest.MonkeyPatch, readings: Any, expected: float | None) -> None:
    """A machine without a sensor has none."""
    monkeypatch.setattr(psutil, "sensors_temperatures", giving(readings), raising=False)

    assert cores._temperature() == expected


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ([SimpleNamespace(current=2000.04), SimpleNamespace(current=0)], [2000.0, 0]),
        ([SimpleNamespace(current=0)], None),
        ([], None),
        (NotImplementedError, None),
    ],
)
def test_frequencies_are_megahertz_per_core(monkeypatch: pytest.MonkeyPatch, readings: Any, expected: Any) -> None:
    """A virtual machine may not know them."""
    monkeypatch.setattr(psutil, "cpu_freq", giving(readings))

    assert cores._frequencies() == expected


def giving(result: Any) -> Any:
    """A function that gives or raises this."""

    def function(**_options: Any) -> Any:
        if isinstance(result, type):
            raise result
        return result

    return function


def rows(folder: Path) -> list[Any]:
    """What was written."""
    return [json.loads(line) for line in (folder / "cores.jsonl").read_text().splitlines()]


def test_a_sample_of_this_very_process(tmp_path: Path) -> None:
    """A header, the process, the machine, and the cores with their five counters."""
    sampler = cores.Cores(tmp_path, os.getpid(), conductor=0)
    for _ in range(3):
        sampler.sample()
    sampler.writer.finish({})

    header, *samples, trailer = rows(tmp_path)
    assert (header["format"], header["pid"], header["cores"]) == ("dlprof.cores/1", os.getpid(), os.cpu_count())
    assert [row[0] for row in samples if row[0] not in ("p", "t")] == ["m", "c", "m", "c", "c"]
    process = next(row for row in samples if row[0] == "p" and row[2] == os.getpid())
    assert process[3:6] == [os.getppid(), proc.command(os.getpid(), keep=False), False]
    assert {len(core) for core in samples[-1][2]} == {5}
    assert os.getpid() in [row[0] for row in samples[-1][4]]
    assert trailer == {"end": True, "rows": len(samples)}


def test_the_first_sample_waits_for_no_sensor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads them is loaded for the second one, which follows at once."""
    monkeypatch.setattr(cores, "_temperature", lambda: 61.5)
    monkeypatch.setattr(cores, "_frequencies", lambda: [2500.0])
    sampler = cores.Cores(tmp_path, os.getpid(), conductor=0)
    for _ in range(2):
        sampler.sample()
    sampler.writer.finish({})

    assert [row[4:6] for row in rows(tmp_path)[1:-1] if row[0] == "m"] == [[None, None], [61.5, [2500.0]]]


def test_what_is_read_once_a_second_is_read_twice_in_the_first_ten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short run is over before a second look."""
    at = iter(range(1, 40))
    clock = SimpleNamespace(perf_counter_ns=lambda: next(at) * 500_000_000, thread_time_ns=lambda: 0)
    sampler = cores.Cores(tmp_path, os.getpid(), conductor=0)
    monkeypatch.setattr(cores, "time", clock)
    for _ in range(26):
        sampler.sample()
    sampler.writer.finish({})

    seconds = [row[1] / 1e9 for row in rows(tmp_path)[1:-1] if row[0] == "m"]
    assert seconds == [*(0.5 * n for n in range(1, 22)), 11.5, 12.5]


def test_the_last_sample_has_what_the_control_group_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel has killed the process since the last second was over: that is counted after its end only."""
    killed = iter([0, 0, 1])
    monkeypatch.setattr(memory.Limits, "row", lambda _limits: [None, None, 1000, 900, next(killed)])
    sampler = cores.Cores(tmp_path, os.getpid(), conductor=0)
    for _ in range(3):
        sampler.sample()
    sampler.read_all_next()
    sampler.sample()
    sampler.writer.finish({})

    assert [row[-1][-1] for row in rows(tmp_path)[1:-1] if row[0] == "m"] == [0, 0, 1]


def test_figures_of_memory_are_bytes(kernel: Kernel) -> None:
    """The kernel tells most of them in units of 1024 bytes, and numbers of pages without one."""
    kernel.files["/proc/meminfo"] = (
        b"MemTotal: 8 kB\nMemFree: 2 kB\nSwapTotal: 5 kB\nSwapFree: 1 kB\nHugePages_Total: 0\n"
    )

    assert cores._memory() == {b"MemTotal": 8192, b"MemFree": 2048, b"SwapTotal": 5120, b"SwapFree": 1024}


def test_a_process_that_came_and_went_is_told(tmp_path: Path) -> None:
    """When it is first seen, and when it is not seen any more."""
    sampler = cores.Cores(tmp_path, os.getpid(), conductor=0)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    sampler.sample()
    assert child.pid in sampler.tree()

    child.communicate(b"\n")
    sampler.read_all_next()
    sampler.sample()
    sampler.writer.finish({})

    assert child.pid not in sampler.tree()
    assert [row[5] for row in rows(tmp_path) if isinstance(row, list) and row[0] == "p" and row[2] == child.pid] == [
        False,
        True,
    ]


def test_the_sampler_is_none_of_the_tree_of_a_notebook(tmp_path: Path, kernel: Kernel) -> None:
    """It runs below the process that it watches."""
    kernel.process(10, "11 12")
    kernel.process(11)
    kernel.process(12, "13")
    kernel.process(13)
    sampler = cores.Cores(tmp_path, 10, conductor=12)

    sampler._processes.look(0, fully=True)

    assert (sampler.tree(), sampler._processes.own) == ([10, 11], [12, 13])


@pytest.mark.parametrize(
    ("available", "mapped", "limits", "expected"),
    [
        (1 << 60, 80, [100, None, None, None, None], True),
        (1 << 60, 60, [100, None, None, None, None], False),
        (1 << 60, 60, [None, None, 100, 75, 0], True),
        (1 << 60, 60, [None, None, 100, 70, 0], False),
        (1 << 60, 60, [None] * 5, False),
        (0, 60, [None] * 5, True),
    ],
)
def test_memory_may_soon_run_out(available: int, mapped: int, limits: list[int | None], expected: bool) -> None:
    """From three quarters of a limit on; of the machine when an eighth is left."""
    told: list[list[int | None]] = [[42, *[None] * 14, mapped, None, None]]

    assert cores._is_near(available, told, limits) is expected


def test_near_a_limit_each_sample_is_written_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be the last."""
    monkeypatch.setattr(cores, "_is_near", lambda *_: True)
    sampler = cores.Cores(tmp_path, os.getpid(), conductor=0, flush_ns=1 << 60)
    sampler.sample()

    assert [row[0] for row in rows(tmp_path)[1:] if row[0] not in ("p", "t")] == ["m", "c"]


def test_open_descriptors_are_told_behind_what_memory_is(kernel: Kernel) -> None:
    """Once a second; unknown where the process may not be looked into."""
    kernel.folders.update({"/proc/42/task": ["42"], "/proc/42/fd": ["0", "1", "2"], "/proc/43/task": ["43"]})
    details = cores.Details(Handles(cast("Any", SimpleNamespace(row=list))), Spent())
    told = details.read(10**9, [[42, 1, 100, 1, 0, 0, 0], [43, 1, 100, 1, 0, 0, 0]])

    assert [(row[0], row[-1]) for row in told] == [(42, 3), (43, None)]


def test_without_proc_cores_are_unavailable_and_the_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no failure of the sampler's."""

    def missing(*_: object) -> int:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(cores, "os", SimpleNamespace(open=missing, O_RDONLY=os.O_RDONLY))

    with pytest.raises(Unavailable, match="^/proc is not mounted, and the kernel tells of cores there$"):
        cores.Cores(tmp_path, 42, 43)


def test_threads_beside_the_main_one_are_told_as_they_ran() -> None:
    """Those that ran for a millisecond since they were told, four at most, those first that ran most."""
    threads, ms = cores.Threads(), 1_000_000
    assert threads.told(42) == []

    threads.read(
        {
            42: (99 * ms, 0),
            43: (5 * ms, 7),
            44: (ms // 2, 0),
            45: (9 * ms, 1),
            **dict.fromkeys((46, 47, 48), (2 * ms, 0)),
        }
    )
    assert threads.told(42) == [[45, 9 * ms, 1], [43, 5 * ms, 7], [46, 2 * ms, 0], [47, 2 * ms, 0]]

    threads.read({42: (200 * ms, 0), 43: (5 * ms, 8), 44: (ms, 0), 48: (2 * ms, 0)})
    assert threads.told(42) == [[48, 2 * ms, 0], [44, ms, 0]]
