"""A process leaves its exit code, however it ends by itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dlprof_probes
import pytest

PROBES = str(Path(dlprof_probes.__file__).parents[1])


def left(folder: Path, code: str) -> bytes:
    """What a process that ends so has left."""
    begin = (
        f"import os, sys; from dlprof_probes.inproc import exit_status; exit_status.watch({str(folder / 'exit')!r}, 1)"
    )
    subprocess.run(
        [sys.executable, "-c", f"{begin}\n{code}"],
        env={**os.environ, "PYTHONPATH": PROBES},
        check=False,
        stderr=subprocess.DEVNULL,
    )
    return (folder / "exit").read_bytes()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", b"\0\0\0\0"),
        ("sys.exit(3)", b"\3\0\0\0"),
        ("raise ValueError", b"\1\0\0\0"),
        ("sys.exit('message')", b"\1\0\0\0"),
        ("os._exit(9)", b"\x09\0\0\0"),
        ("os.kill(os.getpid(), 9)", b"none"),
    ],
)
def test_it_is_the_code_that_its_parent_gets(tmp_path: Path, code: str, expected: bytes) -> None:
    """A signal leaves none."""
    assert left(tmp_path, code) == expected


def test_a_forked_child_does_not_leave_its_own(tmp_path: Path) -> None:
    """It shares the memory until it has its own."""
    code = "pid = os.fork()\nif not pid:\n    sys.exit(7)\nos.waitpid(pid, 0)\nos.kill(os.getpid(), 9)"
    assert left(tmp_path, code) == b"none"


def test_a_file_that_cannot_be_made_harms_nobody(tmp_path: Path) -> None:
    """The process goes its way."""
    (tmp_path / "exit").write_bytes(b"here already")
    assert left(tmp_path, "sys.exit(3)") == b"here already"
