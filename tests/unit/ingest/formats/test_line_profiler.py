"""Files of line_profiler."""

from __future__ import annotations

import pickle
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import line_profiler as line_profiler_files
from tests.unit.ingest.formats.samples import (
    LINES,
    put,
)
from tests.unit.ingest.imports import DATA, imported


def test_a_pickle_of_line_profiler_gives_its_lines() -> None:
    """Hits and times are those of the file; functions begin where it says."""
    foreign = line_profiler_files.read(DATA / "line_profiler.lprof")

    rows = foreign.tables["lines"].to_pylist()
    hits: Counter[tuple[str, int]] = Counter()
    for row in rows:
        hits[row["function"], row["first_line"]] += row["hits"]
    assert foreign.facts["unit_s"] == 3.6467216519357346e-07
    assert [round(total, 6) for total in foreign.facts["total_times_s"]] == [29.110249, 21.73422, 96.768818]
    assert hits == {("update", 34): 14_782, ("forward", 61): 127_744, ("main", 238): 30_864}
    hottest = max(rows, key=lambda row: row["time_ns"])
    assert (hottest["line"], hottest["hits"], hottest["time_ns"]) == (330, 2048, 51_321_639_756)


def test_the_text_of_line_profiler_without_sources_gives_the_same_hits() -> None:
    """Functions that the text does not name are numbered; lines that never ran have 0 hits."""
    foreign = line_profiler_files.read(DATA / "line_profiler.txt")

    rows = foreign.tables["lines"].to_pylist()
    hits: Counter[tuple[str, int]] = Counter()
    for row in rows:
        hits[row["function"], row["first_line"]] += row["hits"]
    assert foreign.facts == {"functions": 3, "unit_s": 3.64672e-07, "total_times_s": [29.1102, 21.7342, 96.7688]}
    assert hits == {("function 1", 34): 14_782, ("function 2", 61): 127_744, ("function 3", 238): 30_864}
    assert {row["source"] for row in rows} == {None}


def test_the_text_of_line_profiler_with_sources_gives_names_and_sources(tmp_path: Path) -> None:
    """File, function and code, also where the code looks like a number."""
    foreign = line_profiler_files.read(put(tmp_path, LINES))

    rows = foreign.tables["lines"].to_pylist()
    assert [(row["file"], row["function"], row["first_line"]) for row in rows] == [("slow.py", "slow", 3)] * 4
    assert [(row["line"], row["hits"], row["time_ns"], row["source"]) for row in rows] == [
        (3, 0, 0, "@profile"),
        (4, 0, 0, "def slow(n):"),
        (5, 11, 250_000_000, "    for i in range(n):"),
        (6, 10, 250_000_000, "        12 + 3"),
    ]


class Harmful:
    """Runs a program when it is unpickled blindly."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return subprocess.call, (["touch", str(self.mark)],)


def nested() -> bytes:
    """A pickle whose key is so deep that its hash would overflow the stack."""
    return b"\x80\x04c_line_profiler\nLineStats\n)\x81}(" + b"K\x01" + b"\x85" * 500_000 + b"K\x02ub."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x80\x04cos\nsystem\n.", "it asks for os.system"),
        (b"\x80\x04c_line_profiler\nLineStats\nr\xff\xff\xff\x7f.", "memo 2147483647"),
        (b"\x80\x04c_line_profiler\nLineStats\n)R.", "REDUCE has no place"),
        (nested(), "a tuple of something other"),
        (pickle.dumps({"LineStats": 1}), "not a pickle of LineStats"),
    ],
)
def test_pickles_of_other_things_are_refused(content: bytes, words: str, tmp_path: Path) -> None:
    """Other classes, calls, and pickles made to exhaust memory or stack."""
    with pytest.raises(ArtifactError, match=words):
        line_profiler_files.read(put(tmp_path, content))


def test_nothing_in_a_pickle_is_run(tmp_path: Path) -> None:
    """A harmful pickle that looks like line_profiler's is refused before it does anything."""
    mark = tmp_path / "mark"
    path = put(tmp_path, pickle.dumps({"LineStats": Harmful(mark)}))

    with pytest.raises(ArtifactError):
        line_profiler_files.read(path)
    assert not mark.exists()


def test_times_of_lines_stay_what_they_are_in_a_run(tmp_path: Path) -> None:
    """They are no moments: nothing is taken off to begin at zero, and no run is as long as its longest line."""
    counted = [line for line in LINES.splitlines() if "@profile" not in line and "def slow" not in line]

    run = imported(tmp_path, put(tmp_path, "\n".join(counted)))

    assert run.table("lines")["time_ns"].to_pylist() == [250_000_000, 250_000_000]
    assert run.wall_ns is None
