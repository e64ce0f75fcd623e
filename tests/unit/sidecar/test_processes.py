"""Who is there below the traced process, and who has ended."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from dlprof_probes.sidecar import proc, processes
from dlprof_probes.sidecar.jsonl import Writer
from dlprof_probes.sidecar.processes import Processes

from tests.unit.sidecar.conftest import Kernel


@pytest.fixture
def followed(tmp_path: Path, kernel: Kernel) -> Processes:
    """Processes below 10, of which there is one, 11."""
    kernel.process(10, "11")
    kernel.process(11, ticks=5)
    found = Processes(Writer(tmp_path / "rows.jsonl", {}, 0), 10, conductor=1)
    found.look(0, fully=True)
    return found


def written(folder: Path) -> list[Any]:
    """The rows, without the times at which processes were started."""
    return [json.loads(line)[:6] for line in (folder / "rows.jsonl").read_text().splitlines()[1:]]


def test_one_that_is_over_has_its_last_figures_first(tmp_path: Path, kernel: Kernel, followed: Processes) -> None:
    """The kernel keeps them until its parent has asked how it ended; it does not come again then."""
    kernel.process(11, state="Z", ticks=42)

    rows = followed.rows()
    followed.tell_ended(5)
    followed.look(6, fully=True)

    assert [row[:2] for row in rows] == [[10, 0], [11, 42]]
    assert written(tmp_path)[2:] == [["p", 5, 11, 10, None, True]]
    assert followed.tree() == [10]


def test_a_number_that_is_given_anew_is_another_process(tmp_path: Path, kernel: Kernel, followed: Processes) -> None:
    """It was started at another time."""
    kernel.process(11, started=2000)

    assert [row[0] for row in followed.rows()] == [10]
    followed.tell_ended(5)
    followed.look(6, fully=True)

    assert [row[1:] for row in written(tmp_path)[2:]] == [[5, 11, 10, None, True], [6, 11, 10, None, False]]


def test_lists_of_children_are_read_only_when_something_was_started(kernel: Kernel, followed: Processes) -> None:
    """The kernel tells the last number that it gave; for ten seconds that is believed."""
    kernel.files["/proc/loadavg"] = b"0.1 0.2 0.3 1/9 100\n"
    followed.look(10**12, fully=True)
    kernel.process(10, "11 12")
    kernel.process(12)

    followed.look(10**12 + 8 * 10**9, fully=True)
    before = followed.tree()
    kernel.files["/proc/loadavg"] = b"0.1 0.2 0.3 1/9 101\n"
    followed.look(10**12 + 9 * 10**9, fully=True)
    then = followed.tree()
    kernel.process(10, "11 12 13")
    kernel.process(13)
    followed.look(10**12 + 20 * 10**9, fully=True)

    assert (before, then, followed.tree()) == ([10, 11], [10, 11, 12], [10, 11, 12, 13])


def test_a_walk_that_waited_for_a_core_is_not_taken_for_a_long_one(
    kernel: Kernel, followed: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sampler has the lowest priority: on a full machine it would not look again for minutes."""
    children = proc.children

    def waits_first(pid: int) -> list[int]:
        time.sleep(0.02)
        return children(pid)

    monkeypatch.setattr(proc, "children", waits_first)
    kernel.files["/proc/loadavg"] = b"0.1 0.2 0.3 1/9 100\n"
    followed.look(10**12, fully=True)
    kernel.process(10, "11 12")
    kernel.process(12)
    kernel.files["/proc/loadavg"] = b"0.1 0.2 0.3 1/9 101\n"

    followed.look(10**12 + 9 * 10**9, fully=True)

    assert followed.tree() == [10, 11, 12]


def test_one_walk_that_took_long_is_no_reason_to_look_later(
    tmp_path: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one loads what it uses: workers that a script began at once were not seen for seconds. Two are."""
    times = iter([0, 50_000_000, 50_000_000, 100_000_000, 100_000_000, 100_000_000])
    monkeypatch.setattr(time, "thread_time_ns", lambda: next(times))
    kernel.process(10)
    found = Processes(Writer(tmp_path / "rows.jsonl", {}, 0), 10, conductor=1)
    found.look(0, fully=True)

    trees = []
    for moment, (last, child) in enumerate([(b"101", 101), (b"102", 102)], 1):
        kernel.files["/proc/loadavg"] = b"0.1 0.2 0.3 1/9 " + last + b"\n"
        kernel.process(10, " ".join(str(one) for one in range(101, child + 1)))
        kernel.process(child)
        found.look(moment * 10**9, fully=True)
        trees.append(found.tree())

    assert trees == [[10, 101], [10, 101]]


def test_other_ranks_of_a_program_are_not_dlprofs_own(tmp_path: Path, kernel: Kernel) -> None:
    """They are below the dlprof that waits for the program, as its helpers are; only these are its own."""
    kernel.process(1, "20 30")
    kernel.process(20, "10 21")
    kernel.process(10)
    kernel.process(21)
    kernel.process(30)
    rank = Processes(Writer(tmp_path / "rows.jsonl", {}, 0), 10, conductor=1, program=20)

    rank.look(0, fully=True)

    assert (rank.tree(), rank.own) == ([10], [1, 30])


def test_one_whose_parent_has_ended_stays(kernel: Kernel, followed: Processes) -> None:
    """It is a child of dlprof's by then, or of the first process."""
    kernel.process(11, "12")
    kernel.process(12)
    followed.look(1, fully=True)
    kernel.process(10)
    kernel.gone(11)
    kernel.process(1, "10 12")

    followed.look(2, fully=True)

    assert (followed.tree(), followed.own) == ([10, 12], [1])


def test_more_than_can_be_followed_are_counted(tmp_path: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are of the tree all the same: they end with it."""
    monkeypatch.setattr(processes, "MOST", 2)
    kernel.process(10, "11 12 13")
    for pid in (11, 12, 13):
        kernel.process(pid)
    found = Processes(Writer(tmp_path / "rows.jsonl", {}, 0), 10, conductor=1)

    found.look(7, fully=True)

    assert (found.followed(), found.tree()) == ([10, 11], [10, 11, 12, 13])
    assert written(tmp_path)[-1] == ["n", 7, 2, 0]


def test_short_lived_ones_beyond_a_number_are_not_named(
    tmp_path: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is counted once."""
    monkeypatch.setattr(processes, "MOST_NAMED", 2)
    kernel.process(10, "11 12 13")
    for pid in (11, 12, 13):
        kernel.process(pid)
    found = Processes(Writer(tmp_path / "rows.jsonl", {}, 0), 10, conductor=1)

    found.look(7, fully=True)
    found.look(8, fully=True)

    assert [row[0] for row in written(tmp_path)] == ["p", "p", "n"]
    assert written(tmp_path)[-1] == ["n", 7, 0, 2]


def test_a_command_that_came_with_an_exec_is_told(tmp_path: Path, kernel: Kernel, followed: Processes) -> None:
    """At first a forked process has its parent's."""
    kernel.files["/proc/11/cmdline"] = b"sleep\x001\x00"

    followed.look(9, fully=True)

    assert written(tmp_path)[2:] == [["p", 9, 11, 10, "sleep 1", False]]
