"""Control groups of a process: where the kernel keeps their files, and what the CPU quota of them allows."""

from __future__ import annotations

from collections.abc import Callable

from dlprof_probes.sidecar import proc

_MOUNT = "/sys/fs/cgroup"


def folders(pid: int | str, controller: str, has: Callable[[str], bool]) -> list[str]:
    """Folders of the group that a controller keeps for a process, and of those around it, the innermost first.

    Args:
        pid: The process, or `self`.
        controller: Its name, as `memory`: version 1 has a tree for it, version 2 one for all.
        has: Whether a folder has files of that controller.
    """
    for line in proc.read(f"/proc/{pid}/cgroup").decode("utf-8", "replace").splitlines():
        controllers, _, path = line.partition(":")[2].partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        roots = (f"{_MOUNT}/{controllers}", f"{_MOUNT}/{controller}") if controllers else (_MOUNT, f"{_MOUNT}/unified")
        for root in roots:
            # In a container the path may be one of the host, and the root be the group itself.
            for below in (path.rstrip("/"), ""):
                if has(root + below):
                    parts = below.split("/")
                    return [root + "/".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return []


def cpu(pid: int | str) -> list[str]:
    """Folders of the groups that may hold a process back, the innermost first."""
    return folders(pid, "cpu", lambda folder: bool(proc.read(f"{folder}/cpu.stat")))


def quota_cores(pid: int | str = "self") -> float | None:
    """Cores' worth of time that the process and others of its group may use; None: nothing limits it.

    The tightest of the groups around it holds. Sources: `cpu.max` of version 2, `cpu.cfs_quota_us` and
    `cpu.cfs_period_us` of version 1.
    """
    return min((quota for folder in cpu(pid) if (quota := _quota(folder)) is not None), default=None)


def _quota(folder: str) -> float | None:
    told = proc.read(f"{folder}/cpu.max").split() or [
        *proc.read(f"{folder}/cpu.cfs_quota_us").split(),
        *proc.read(f"{folder}/cpu.cfs_period_us").split(),
    ]
    if len(told) != 2 or not all(text.isdigit() for text in told):  # `max` and -1: there is none
        return None
    quota, period = (int(text) for text in told)
    return quota / period if quota and period else None
