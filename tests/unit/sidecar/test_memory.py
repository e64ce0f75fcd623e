"""Memory of processes, as the kernel tells it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from dlprof_probes.sidecar import memory

from tests.unit.sidecar.conftest import Kernel

STATUS = (
    b"Name:\tpython\nVmPeak:\t  900 kB\nVmSize:\t  800 kB\nVmHWM:\t  500 kB\nVmRSS:\t  400 kB\nRssAnon:\t  250 kB\n"
    b"RssFile:\t  140 kB\nRssShmem:\t   10 kB\nVmSwap:\t   20 kB\nThreads:\t3\n"
)
LIMITS = b"Limit   Soft Limit  Hard Limit  Units\nMax data size   unlimited   unlimited   bytes\n"
AS_LIMIT = b"Max address space   4000   8000   bytes\nMax open files   1024   4096   files\n"


def test_kinds_of_memory_are_bytes() -> None:
    """Anonymous, file, shared, swapped out, the most there was, and the address space."""
    assert memory.split(STATUS) == (256_000, 143_360, 10_240, 20_480, 512_000, 819_200)


def test_what_an_older_kernel_does_not_tell_is_not_known() -> None:
    """Not 0."""
    assert memory.split(b"VmSize:\t  800 kB\n") == (None, None, None, None, None, 819_200)


def test_proportional_and_unique_sizes_are_rare(kernel: Kernel) -> None:
    """They are read at once, and then not again for ten seconds; None without the right to know."""
    kernel.files["/proc/42/smaps_rollup"] = b"Rss: 9 kB\nPss:   6 kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 3 kB\n"
    rollups = memory.Rollups()

    assert rollups.read([42, 43]) == {42: (6_144, 4_096), 43: (None, None)}
    assert rollups.read([42, 43]) == {}


def test_limits_of_a_process_are_the_soft_ones(kernel: Kernel) -> None:
    """Unlimited is none."""
    kernel.files["/proc/42/limits"] = LIMITS + AS_LIMIT

    assert memory.Limits(42).row() == [4000, None, None, None, None, 1024]


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        (
            b"0::/a/b\n",
            {
                "/sys/fs/cgroup/a/b/memory.current": b"70\n",
                "/sys/fs/cgroup/a/b/memory.max": b"max\n",
                "/sys/fs/cgroup/a/memory.max": b"100\n",
                "/sys/fs/cgroup/a/b/memory.events": b"oom 3\noom_kill 2\n",
            },
            [100, 70, 2],
        ),
        (
            b"4:memory:/docker/1\n0::/\n",
            {
                "/sys/fs/cgroup/memory/memory.usage_in_bytes": b"70\n",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes": b"9223372036854771712\n",
                "/sys/fs/cgroup/memory/memory.oom_control": b"under_oom 0\noom_kill 0\n",
            },
            [None, 70, 0],
        ),
        (b"9:cpu:/x\n", {"/sys/fs/cgroup/x/memory.current": b"70\n"}, [None, None, None]),
    ],
)
def test_the_tightest_control_group_counts(
    kernel: Kernel, groups: bytes, files: dict[str, bytes], expected: list[int | None]
) -> None:
    """Versions 2 and 1; in a container the path is the host's."""
    kernel.files.update({"/proc/42/cgroup": groups, **files})

    assert memory.Limits(42).row()[2:5] == expected


def test_what_a_part_takes_is_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 ns, and 5 ns."""
    clock = iter([100, 103, 200, 205])
    monkeypatch.setattr(memory, "time", SimpleNamespace(thread_time_ns=lambda: next(clock)))
    spent = memory.Spent()

    for _ in range(2):
        with spent:
            pass

    assert spent.ns == 8
