"""Open descriptors and threads of a process."""

from __future__ import annotations

import os
from typing import Any

import pytest
from dlprof_probes.sidecar import handles
from dlprof_probes.sidecar.handles import Handles

from tests.unit.sidecar.conftest import Kernel


class Rows:
    """Takes rows."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []

    def row(self, row: list[Any]) -> None:
        """One."""
        self.rows.append(row)


def row(threads: int) -> list[int]:
    """What a process with so many threads has used."""
    return [42, 0, 0, threads, 0, 0, 0]


@pytest.fixture
def targets(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Where links lead."""
    known: dict[str, str] = {}
    monkeypatch.setattr(os, "readlink", lambda path: os.fsencode(known[path.decode()]))
    return known


def opened(kernel: Kernel, targets: dict[str, str], names: list[str]) -> None:
    """Give the process these descriptors."""
    kernel.folders["/proc/42/fd"] = [str(number) for number in range(len(names))]
    targets.update({f"/proc/42/fd/{number}": name for number, name in enumerate(names)})


def test_descriptors_are_counted(kernel: Kernel, targets: dict[str, str]) -> None:
    """Of a process that may not be looked into nothing is known."""
    looked = Handles(rows := Rows())  # type: ignore[arg-type]
    opened(kernel, targets, ["/dev/null"] * 3)

    assert looked.look(7, row(1)) == 3
    assert looked.look(7, [43, 0, 0, 1, 0, 0, 0]) is None
    assert rows.rows == []


def test_where_there_are_far_more_they_are_named(kernel: Kernel, targets: dict[str, str]) -> None:
    """Numbers that differ between names are left out; a few more are no reason to look."""
    looked = Handles(rows := Rows())  # type: ignore[arg-type]
    for count in (3, 10, 22, 30, 60):
        opened(kernel, targets, ["/dev/null"] * 3 + [f"/data/run-{n}.log" for n in range(count - 3)])
        looked.look(count, row(1))

    assert rows.rows == [
        ["h", 22, 42, "descriptors", 22, 22, [["/data/run-#.log", 19], ["/dev/null", 3]]],
        ["h", 60, 42, "descriptors", 60, 60, [["/data/run-#.log", 57], ["/dev/null", 3]]],
    ]


def test_threads_are_named_likewise(kernel: Kernel, targets: dict[str, str]) -> None:
    """By the kernel's name of each."""
    looked = Handles(rows := Rows())  # type: ignore[arg-type]
    looked.look(1, row(4))
    kernel.folders["/proc/42/task"] = [str(number) for number in range(100, 140)]
    kernel.files.update({f"/proc/42/task/{n}/comm": b"watch-%d\n" % n for n in range(100, 138)})
    looked.look(2, row(40))

    assert rows.rows == [["h", 2, 42, "threads", 40, 38, [["watch-#", 38]]]]


def test_of_very_many_the_newest_are_looked_at(kernel: Kernel, targets: dict[str, str]) -> None:
    """Those of the largest numbers."""
    looked = Handles(rows := Rows())  # type: ignore[arg-type]
    looked.look(1, row(1))
    opened(kernel, targets, [])
    looked.look(2, row(1))
    opened(kernel, targets, ["/old"] * 100 + ["/new"] * 600)
    looked.look(3, row(1))

    assert rows.rows == [["h", 3, 42, "descriptors", 700, 512, [["/new", 512]]]]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("socket:[12345]", "socket:[#]"),
        ("/tmp/tmpab12cd34/x.bin", "/tmp/#/x.bin"),
        ("/dev/shm/torch_123_4f5e6a7b_9", "/dev/shm/torch_#_#_#"),
        ("anon_inode:[eventpoll]", "anon_inode:[eventpoll]"),
    ],
)
def test_names_of_things_that_are_alike_are_equal(name: str, told: str) -> None:
    """What differs is `#`."""
    assert handles._NUMBERS.sub("#", name) == told


def test_a_name_that_is_no_utf_8_is_a_text_all_the_same(kernel: Kernel, targets: dict[str, str]) -> None:
    """Tables take no lone surrogates."""
    looked = Handles(rows := Rows())  # type: ignore[arg-type]
    looked.look(1, row(1))
    opened(kernel, targets, [])
    looked.look(2, row(1))
    opened(kernel, targets, ["/caf\udce9.png"] * 20)
    looked.look(3, row(1))

    assert rows.rows[0][-1] == [["/caf\ufffd.png", 20]]
