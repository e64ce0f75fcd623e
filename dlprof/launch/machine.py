"""Facts about the machine and the working tree, for the manifest."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
from pathlib import Path

import psutil

from dlprof.schema.manifest import Git, Machine


def describe() -> Machine:
    """Host name, system, processor, cores that may be used, and memory (bytes)."""
    return Machine(
        host=socket.gethostname(),
        system=f"{platform.system()} {platform.release()}",
        cpu=_processor(),
        cores=os.cpu_count(),
        usable_cores=len(os.sched_getaffinity(0)),
        memory_bytes=psutil.virtual_memory().total,
    )


def _processor() -> str | None:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or None


def git_state(folder: Path) -> Git | None:
    """Commit of the working tree around `folder`, and whether it has changes; None outside one."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    status = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return Git(commit=commit, dirty=bool(status))


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
