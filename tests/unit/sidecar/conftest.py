"""A /proc with the texts of a test."""

from __future__ import annotations

import os

import pytest
from dlprof_probes.sidecar import proc


class Kernel:
    """Files of /proc, with the texts of a test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: dict[str, bytes] = {}
        self.folders: dict[str, list[str]] = {}
        monkeypatch.setattr(proc, "read", lambda path: self.files.get(path, b""))
        monkeypatch.setattr(os, "listdir", self._listdir)
        monkeypatch.setattr(os.path, "exists", lambda path: path in self.folders)
        monkeypatch.setattr(os.path, "isfile", lambda path: path in self.files)

    def _listdir(self, path: str) -> list[str]:
        if path not in self.folders:
            raise FileNotFoundError(path)
        return self.folders[path]

    def process(self, pid: int, children: str = "", *, state: str = "S", ticks: int = 0, started: int = 1000) -> None:
        """A process of one thread, with its children."""
        self.files[f"/proc/{pid}/stat"] = STAT % (pid, state.encode(), ticks, started)
        self.folders[f"/proc/{pid}"] = []
        self.folders[f"/proc/{pid}/task"] = [str(pid)]
        self.files[f"/proc/{pid}/task/{pid}/children"] = children.encode()

    def gone(self, pid: int) -> None:
        """It is not there any more."""
        for path in [path for path in self.files if path.startswith(f"/proc/{pid}/")]:
            del self.files[path]
        for path in (f"/proc/{pid}", f"/proc/{pid}/task"):
            self.folders.pop(path, None)


STAT = (
    b"%d (name with ) in it) %s 1 42 42 0 -1 4194304 100 0 7 0 %d 0 3 4 20 0 9 0 %d 123456 2048 18446744073709551615\n"
)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """An empty /proc."""
    return Kernel(monkeypatch)
