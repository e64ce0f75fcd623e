"""Counts of the line profiler."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import lines
from dlprof.ingest.own.counted_frames import Registered

PROCESS = ProcessId("host", 0, 42, 1_000)


def test_lines_that_never_ran_are_listed_with_no_hits(tmp_path: Path) -> None:
    """A function's whole source is there; times are in nanoseconds."""
    source = ["def f(x):", "    if x:", "        return 1", "    return 2", "", "f(0)"]
    counts = {"file": "/s/a.py", "first_line": 1, "function": "f", "lines": [[2, 1, 30], [4, 1, 20]]}
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 2.0, "functions": [counts]}))

    rows = lines.read(path, PROCESS, FileNames("/s"), lambda file: source).to_pylist()

    assert [(row["line"], row["hits"], row["time_ns"]) for row in rows] == [
        (1, 0, 0),
        (2, 1, 60),
        (3, 0, 0),
        (4, 1, 40),
    ]
    assert rows[2]["source"] == "        return 1"


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": "dlprof.lines/9", "unit_ns": 1, "functions": []}'])
def test_damaged_line_counts_are_refused(content: str, tmp_path: Path) -> None:
    """With the file's name."""
    path = tmp_path / "lines.json"
    path.write_text(content)

    with pytest.raises(ArtifactError, match=r"lines\.json"):
        lines.read(path, PROCESS, FileNames("/s"), lambda file: [])


def test_where_lines_were_counted_is_read(tmp_path: Path) -> None:
    """Functions with the lines that ran; a module begins at line 1; an older file does not say whether threads were."""
    functions = [
        {"file": "/s/a.py", "first_line": 3, "function": "f", "lines": [[4, 1, 9], [5, 0, 0]], "everywhere": True},
        {"file": "/s/a.py", "first_line": 2, "function": "<module>", "lines": []},
    ]
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 1, "functions": functions}))

    counting = lines.counting(path, FileNames("/s"), on_threads=True)

    assert counting.on_threads
    assert counting.registered == {
        ("a.py", 3, "f"): Registered("a.py", "f", 3, frozenset({4}), everywhere=True),
        ("a.py", 1, "<module>"): Registered("a.py", "<module>", 1, frozenset()),
    }


def test_hits_of_windows_are_added_scaled(tmp_path: Path) -> None:
    """2 hits before the windows, 3 in them, which stand for 300; a line that no window met may have run between them."""
    source = ["def f(x):", "    x += 1", "    return x"]
    counts = {
        "file": "/s/a.py", "first_line": 1, "function": "f", "lines": [[2, 2, 30]], "scaled": [[2, 3, 300, 3000]],
        "thinned": True,
    }  # fmt: skip
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": [counts]}))

    rows = lines.read(path, PROCESS, FileNames("/s"), lambda file: source).to_pylist()

    assert [(row["line"], row["hits"], row["how"]) for row in rows] == [
        (1, None, "scaled"),
        (2, 300, "scaled"),
        (3, None, "scaled"),
    ]


@pytest.mark.parametrize(
    ("before", "in_windows", "scaled", "hits"),
    [
        pytest.param(0, 196, 26322, 30000, id="few were met: one digit"),
        pytest.param(0, 24927, 3347583, 3300000, id="many were met: two"),
        pytest.param(145860, 5, 500, 146400, id="most were counted before the windows"),
        pytest.param(0, 3, 3, 3, id="one digit is all there is"),
    ],
)
def test_scaled_hits_have_no_more_digits_than_are_known(
    tmp_path: Path, before: int, in_windows: int, scaled: int, hits: int
) -> None:
    """A data set's 120,000 rows were told as 26,322."""
    counts = {
        "file": "/s/a.py", "first_line": 1, "function": "f", "lines": [[1, before, 30]],
        "scaled": [[1, in_windows, scaled, 3000]], "thinned": True,
    }  # fmt: skip
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": [counts]}))

    (row,) = lines.read(path, PROCESS, FileNames("/s"), lambda file: ["def f(): pass"]).to_pylist()

    assert row["hits"] == hits


def test_hits_that_stand_for_less_than_nothing_are_not_known(tmp_path: Path) -> None:
    """The time between windows was told as negative; the 4 before them are no whole, though 5 were met."""
    counts = {
        "file": "/s/a.py", "first_line": 1, "function": "f", "lines": [[1, 4, 30]], "scaled": [[1, 5, -4410, -3e6]],
        "thinned": True,
    }  # fmt: skip
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": [counts]}))

    (row,) = lines.read(path, PROCESS, FileNames("/s"), lambda file: ["def f(): pass"]).to_pylist()

    assert row["hits"] is None


def test_counts_below_zero_are_no_counts(tmp_path: Path) -> None:
    """They would make a table that nobody opens."""
    counts = {"file": "/s/a.py", "first_line": 1, "function": "f", "lines": [[1, -4, 30]]}
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": [counts]}))

    with pytest.raises(ArtifactError, match="line 1 ran -4 times"):
        lines.read(path, PROCESS, FileNames("/s"), lambda file: [])


@pytest.mark.parametrize(
    ("before", "in_windows", "hits"),
    [
        pytest.param(1, 0, 1, id="it runs once, as far as anybody has seen"),
        pytest.param(4, 0, None, id="a loop that no window met"),
        pytest.param(0, 2, None, id="two that would stand for two hundred, or for two"),
        pytest.param(4, 3, 300, id="enough"),
    ],
)
def test_hits_that_few_windows_met_are_not_known(
    tmp_path: Path, before: int, in_windows: int, hits: int | None
) -> None:
    """A loop of 90 long steps was told to have run 4 times, or 12,863 times."""
    counts = {
        "file": "/s/a.py", "first_line": 1, "function": "f", "lines": [[1, before, 30]] if before else [],
        "scaled": [[1, in_windows, 100 * in_windows, 3000]] if in_windows else [], "thinned": True,
    }  # fmt: skip
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": [counts]}))

    (row,) = lines.read(path, PROCESS, FileNames("/s"), lambda file: ["def f(): pass"]).to_pylist()

    assert row["hits"] == hits


def test_what_dlprof_took_in_a_line_is_none_of_its_time(tmp_path: Path) -> None:
    """Of 90 ns 30 are left, of 20 none: such a line was reached where it was not counted. In windows nothing is known."""
    source = ["def f(x):", "    x += 1", "    return x"]
    counts = {"file": "/s/a.py", "first_line": 1, "function": "f", "lines": [[2, 1, 90], [3, 1, 20]]}
    own = {"own": [[2, 50], [2, 10], [3, 25]]}
    path = tmp_path / "lines.json"
    functions = [{**counts, **own}, {**counts, **own, "function": "g", "thinned": True, "scaled": []}]
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": functions}))

    rows = lines.read(path, PROCESS, FileNames("/s"), lambda file: source).to_pylist()

    assert [(row["function"], row["line"], row["time_ns"]) for row in rows if row["line"] > 1] == [
        ("f", 2, 30),
        ("f", 3, 0),
        ("g", 2, 90),
        ("g", 3, 20),
    ]


def test_statements_of_a_cell_have_their_own_parts_of_what_dlprof_took(tmp_path: Path) -> None:
    """Two pieces of the code of one file, each with a line."""
    pieces = [
        {"file": "/s/a.py", "first_line": n, "function": "<module>", "lines": [[n, 1, 90]], "own": [[n, 10 * n]]}
        for n in (1, 2)
    ]
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": pieces}))

    rows = lines.read(path, PROCESS, FileNames("/s"), lambda file: ["a = 1", "b = 2"]).to_pylist()

    assert [(row["line"], row["time_ns"]) for row in rows] == [(1, 80), (2, 70)]


@pytest.mark.parametrize(
    ("windows", "before", "in_windows", "scaled", "hits"),
    [
        pytest.param(2, 0, 16, 32375, None, id="two windows tell nothing"),
        pytest.param(2, 203306, 1507, 3049303, None, id="nor do many hits in them"),
        pytest.param(2, 8000, 5, 500, 8500, id="of a line that was mostly counted before it hardly matters"),
        pytest.param(6, 0, 28, 41234, 40000, id="six tell one digit"),
        pytest.param(6, 0, 2300, 941234, 900000, id="however many were met in them"),
        pytest.param(30, 0, 2300, 941234, 940000, id="thirty tell two"),
    ],
)
def test_hits_of_few_windows_are_not_known(
    tmp_path: Path, windows: int, before: int, in_windows: int, scaled: int, hits: int | None
) -> None:
    """A window is half a millisecond: in two of them 900,000 runs of a line were told as 3,300,000."""
    counts = {
        "file": "/s/a.py", "first_line": 1, "function": "f", "lines": [[1, before, 30]],
        "scaled": [[1, in_windows, scaled, 3000]], "thinned": True,
    }  # fmt: skip
    content = {"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": [counts], "thinned": {"windows": windows}}
    path = tmp_path / "lines.json"
    path.write_text(json.dumps(content))

    (row,) = lines.read(path, PROCESS, FileNames("/s"), lambda file: ["def f(): pass"]).to_pylist()

    assert row["hits"] == hits


def test_what_was_counted_outside_of_windows_is_told_apart(tmp_path: Path) -> None:
    """Of a file's own code it is one count, whichever cell it was in; an older file does not tell how many windows."""
    functions = [
        {"file": "/s/a.py", "first_line": 1, "function": "<module>", "lines": [[1, 2, 30]], "scaled": [[1, 9, 900, 3]]},
        {"file": "/s/a.py", "first_line": 3, "function": "<module>", "lines": [[1, 3, 30], [3, 7, 30]]},
    ]
    path = tmp_path / "lines.json"

    def told(**more: object) -> lines.Outside:
        path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": functions, **more}))
        return lines.outside_of_windows(path, FileNames("/s"))

    assert told() == lines.Outside({("a.py", 1): 5, ("a.py", 3): 7}, has_few_windows=False)
    assert told(thinned={"windows": 5}).has_few_windows is True
    with pytest.raises(ArtifactError, match="no line counts"):
        told(thinned=5)
