"""Facts about the machine and the working tree, for the manifest."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from pathlib import Path

import psutil
from dlprof_probes.sidecar import control_groups

from dlprof.launch import ceilings, processor
from dlprof.schema.manifest import Git, Machine


def describe(pid: int | None = None) -> Machine:
    """Host name, system, processor, cores that may be used, what they can do if that is known, and memory (bytes).

    Args:
        pid: The process that may use the cores; None: this one, and what it starts.
    """
    system = os.uname()
    return Machine(
        host=system.nodename,
        system=f"{system.sysname} {system.release}",
        cpu=processor.name(),
        cores=os.cpu_count(),
        usable_cores=_bound_to(pid or 0),
        physical_cores=psutil.cpu_count(logical=False),
        quota_cores=control_groups.quota_cores(pid or "self"),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        ceilings=ceilings.known(),
        half_floats=processor.half_floats(),
    )


def _bound_to(pid: int) -> int | None:
    """Cores that a process may use by its affinity; None: it is gone."""
    try:
        return len(os.sched_getaffinity(pid))
    except OSError:
        return None


_GIT = ("status", "--porcelain=v2", "--branch", "--untracked-files=no")
_GIT_S = 5.0
"""How long git may take in all: a large tree on a slow disk is not waited for."""
_COMMIT = "# branch.oid "


class GitState:
    """The working tree around a folder: git is asked at once, and answers while something else is done.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self._asked = time.monotonic()
        self._git: subprocess.Popen[str] | None = None
        command = ["git", "-C", str(folder), *_GIT]
        with contextlib.suppress(OSError):
            self._git = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )

    def answer(self) -> Git | None:
        """Its commit, and whether it has changes; None outside a working tree, or before its first commit."""
        if self._git is None:
            return None
        try:
            said, _ = self._git.communicate(timeout=max(0.0, self._asked + _GIT_S - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._git.kill()
            self._git.communicate()
            return None
        return _read(said) if self._git.returncode == 0 else None


def _read(said: str) -> Git | None:
    head = [line for line in said.splitlines() if line.startswith("#")]
    commit = next((line.removeprefix(_COMMIT) for line in head if line.startswith(_COMMIT)), None)
    if commit is None or commit.startswith("("):  # `(initial)`: there is no commit yet
        return None
    return Git(commit=commit, dirty=len(said.splitlines()) > len(head))
