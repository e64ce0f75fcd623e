"""Control groups, and what their CPU quota allows."""

from __future__ import annotations

import pytest
from dlprof_probes.sidecar import control_groups

from tests.unit.sidecar.conftest import Kernel

V1 = "/sys/fs/cgroup/cpu,cpuacct"


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        (b"0::/job\n", {"/sys/fs/cgroup/job/cpu.max": b"150000 100000\n"}, 1.5),
        (b"0::/job\n", {"/sys/fs/cgroup/job/cpu.max": b"max 100000\n"}, None),
        (b"0::/\n", {"/sys/fs/cgroup/cpu.max": b"400000 100000\n"}, 4.0),
        (b"0::/job\n", {}, None),
        (
            b"4:cpu,cpuacct:/job\n0::/\n",
            {f"{V1}/job/cpu.cfs_quota_us": b"50000\n", f"{V1}/job/cpu.cfs_period_us": b"100000\n"},
            0.5,
        ),
        (
            b"4:cpu,cpuacct:/job\n0::/\n",
            {f"{V1}/job/cpu.cfs_quota_us": b"-1\n", f"{V1}/job/cpu.cfs_period_us": b"100000\n"},
            None,
        ),
        (b"4:memory:/job\n", {"/sys/fs/cgroup/job/cpu.max": b"150000 100000\n"}, None),
        (b"", {}, None),
    ],
)
def test_the_quota_is_told_in_cores(
    kernel: Kernel, groups: bytes, files: dict[str, bytes], expected: float | None
) -> None:
    """Of both versions; without one, and without a control group, there is none."""
    kernel.files["/proc/self/cgroup"] = groups
    for file, text in files.items():
        kernel.files.update({file: text, f"{file.rpartition('/')[0]}/cpu.stat": b"nr_periods 0\n"})

    assert control_groups.quota_cores() == expected


def test_the_tightest_quota_of_the_groups_around_a_process_holds(kernel: Kernel) -> None:
    """A pod of two cores with a container that may use four of them: it gets two."""
    kernel.files.update(
        {
            "/proc/42/cgroup": b"0::/pod/one\n",
            "/sys/fs/cgroup/pod/one/cpu.stat": b"usage_usec 3\n",
            "/sys/fs/cgroup/pod/one/cpu.max": b"400000 100000\n",
            "/sys/fs/cgroup/pod/cpu.max": b"200000 100000\n",
        }
    )

    assert control_groups.quota_cores(42) == 2.0


def test_in_a_container_the_path_may_be_one_of_the_host(kernel: Kernel) -> None:
    """The root of what is mounted there is the group itself."""
    kernel.files.update(
        {
            "/proc/42/cgroup": b"0::/docker/4f1c\n",
            "/sys/fs/cgroup/cpu.stat": b"usage_usec 3\n",
            "/sys/fs/cgroup/cpu.max": b"200000 100000\n",
        }
    )

    assert control_groups.quota_cores(42) == 2.0
