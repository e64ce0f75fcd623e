"""What is read of /proc: figures of a process, its command, its descendants."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dlprof_probes.sidecar import proc

from tests.unit.sidecar.conftest import Kernel

STAT = b"42 (name with ) in it) S 1 42 42 0 -1 4194304 100 0 7 0 250 50 3 4 20 0 9 0 1000 123456 2048 18446744073709551615\n"


def test_a_long_file_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel gives away a page at a time of some."""
    path = tmp_path / "told"
    path.write_bytes(b"0123456789" * 1000)
    read = os.read
    monkeypatch.setattr(os, "read", lambda file, room: read(file, min(room, 4096)))

    assert proc.read(str(path)) == b"0123456789" * 1000


def test_a_file_that_cannot_be_read_is_empty(tmp_path: Path) -> None:
    """Its process has ended, or it is a folder."""
    assert (proc.read(str(tmp_path / "gone")), proc.read(str(tmp_path))) == (b"", b"")


def test_a_process_has_its_ticks_memory_threads_and_faults(kernel: Kernel) -> None:
    """Whatever its name holds."""
    kernel.files["/proc/42/stat"] = STAT

    assert proc.stat(42) == proc.Stat(False, 1000, [42, 300, 2048, 9, 100, 7, 7])


def test_a_process_that_is_gone_has_no_row(kernel: Kernel) -> None:
    """Or of which the kernel tells half a line."""
    kernel.files["/proc/42/stat"] = STAT[:40]

    assert (proc.stat(42), proc.stat(43)) == (None, None)


def test_the_tree_is_a_process_and_its_descendants(kernel: Kernel) -> None:
    """With their parents."""
    kernel.process(10, "11 12")
    kernel.process(11, "13")
    kernel.process(12)
    kernel.process(13)
    found: dict[int, int] = {}

    proc.walk(10, 1, found)

    assert found == {10: 1, 11: 10, 13: 11, 12: 10}


def test_a_process_that_ends_meanwhile_is_none_of_the_tree(kernel: Kernel) -> None:
    """Its parent still names it."""
    kernel.process(10, "11 12")
    kernel.process(12)
    found: dict[int, int] = {}
    proc.walk(10, 1, found)

    assert found == {10: 1, 12: 10}


def test_a_command_is_cut_and_may_be_empty(kernel: Kernel) -> None:
    """A process of the kernel has none."""
    kernel.files["/proc/42/cmdline"] = b"python\0train.py\0" + b"x" * 400

    assert proc.command(42, keep=False) == ("python train.py " + "x" * 400)[:300]
    assert proc.command(43, keep=False) is None


@pytest.mark.parametrize(
    ("keep", "told"), [(False, "db --password *** --port 1"), (True, "db --password hunter2 --port 1")]
)
def test_a_secret_of_a_command_is_hidden_unless_it_is_to_be_kept(kernel: Kernel, keep: bool, told: str) -> None:
    """Word by word, as the process was given them."""
    kernel.files["/proc/42/cmdline"] = b"db\0--password\0hunter2\0--port\x001\0"

    assert proc.command(42, keep=keep) == told


def test_a_chain_of_a_thousand_processes_is_walked(kernel: Kernel) -> None:
    """Each has started one more: Python's own stack is not what bounds that."""
    for pid in range(10, 2010):
        kernel.process(pid, str(pid + 1))
    kernel.process(2010)
    found: dict[int, int] = {}

    proc.walk(10, 1, found)

    assert (len(found), found[2010]) == (2001, 2009)


def test_a_walk_has_an_end_where_there_are_too_many(kernel: Kernel) -> None:
    """And passes over those that it is told to."""
    kernel.process(10, "11 12 13 14")
    for pid in range(11, 15):
        kernel.process(pid)
    few: dict[int, int] = {}
    some: dict[int, int] = {}

    proc.walk(10, 1, few, most=3)
    proc.walk(10, 1, some, passed_over={12, 13})

    assert few == {10: 1, 11: 10, 12: 10}
    assert some == {10: 1, 11: 10, 14: 10}
