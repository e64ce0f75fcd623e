"""Raw files of the sampler: a header, rows, and a trailer where all went well."""

from __future__ import annotations

import errno
import io
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.sidecar import jsonl

S = 1_000_000_000


class Clock:
    """The time is what a test says."""

    ns = 0

    def perf_counter_ns(self) -> int:
        return self.ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Takes the place of `time`."""
    made = Clock()
    monkeypatch.setattr(jsonl, "time", made)
    return made


def lines(path: Path) -> list[Any]:
    """What is in the file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_file_is_a_header_rows_and_a_trailer(tmp_path: Path) -> None:
    """The trailer counts the rows, and holds what it is told."""
    writer = jsonl.Writer(tmp_path / "x.jsonl", {"format": "dlprof.x/1"})
    writer.row(["c", 1])
    writer.row(["c", None])
    writer.finish({"missed": 3})

    assert lines(tmp_path / "x.jsonl") == [
        {"format": "dlprof.x/1"},
        ["c", 1],
        ["c", None],
        {"end": True, "rows": 2, "missed": 3},
    ]


def test_rows_wait_for_a_second_at_most(tmp_path: Path, clock: Clock) -> None:
    """Then all are handed to the operating system."""
    writer = jsonl.Writer(tmp_path / "x.jsonl", {}, flush_ns=S)
    clock.ns = S
    writer.row([1])
    assert lines(tmp_path / "x.jsonl") == []

    clock.ns = S + 1
    writer.row([2])
    assert lines(tmp_path / "x.jsonl") == [{}, [1], [2]]


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    """The writer says why it writes nothing."""
    (tmp_path / "x.jsonl").write_text("another's")
    writer = jsonl.Writer(tmp_path / "x.jsonl", {})
    writer.row([1])
    writer.finish({})

    assert writer.failed == "cannot write: File exists"
    assert (tmp_path / "x.jsonl").read_text() == "another's"


def test_a_full_disk_ends_the_file_and_nothing_else(tmp_path: Path) -> None:
    """No exception; the reason is kept."""
    writer = jsonl.Writer(tmp_path / "x.jsonl", {})
    writer._file = full = io.StringIO()
    full.flush = lambda: giving_up(errno.ENOSPC)  # type: ignore[method-assign]
    writer.row([1])
    writer.flush()
    writer.row([2])

    assert writer.failed == "cannot write: No space left on device"
    assert (writer.rows, full.getvalue()) == (2, "[1]\n")


def giving_up(number: int) -> None:
    """As the operating system."""
    raise OSError(number, os.strerror(number))


def test_an_anchor_is_the_closest_pair_of_twenty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall clock between the two nearest readings of the run's clock."""
    readings = iter([0, 90, 100, 104] + [200, 290] * 18)
    walls = iter(range(20))
    clock = SimpleNamespace(perf_counter_ns=lambda: next(readings), time_ns=lambda: next(walls))
    monkeypatch.setattr(jsonl, "time", clock)

    assert jsonl.anchor() == {"perf_ns": 102, "wall_ns": 1, "width_ns": 4}
