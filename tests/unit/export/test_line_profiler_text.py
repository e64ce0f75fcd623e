"""Lines as line_profiler prints them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from line_profiler.line_profiler import show_text

from dlprof.errors import NoInputError
from dlprof.export import line_profiler_text
from dlprof.ingest.formats import line_profiler as line_profiler_files
from dlprof.store.run import Run
from tests.unit.export.run_of_everything import HOSTILE
from tests.unit.export.writing import content
from tests.unit.runs import make


def lines_of(path: Path, *counts: tuple[int, int, int], file: str = "train.py") -> Run:
    """A run with one function of the lines of `path`: (line, hits, ns)."""
    source = Path(file).read_text().splitlines() if Path(file).is_file() else []
    given = {line: (hits, time_ns) for line, hits, time_ns in counts}
    rows = [
        {
            "file": file,
            "function": "slow",
            "first_line": 1,
            "line": line,
            "hits": given.get(line, (0, 0))[0],
            "time_ns": given.get(line, (0, 0))[1],
            "source": source[line - 1] if source else None,
        }
        for line in range(1, max(given) + 1)
    ]
    return make(path, lines=rows)


def test_lines_are_printed_as_line_profiler_prints_them(tmp_path: Path) -> None:
    """The same counts, shown by line_profiler itself, are the same text."""
    path = tmp_path / "slow.py"
    path.write_text("def slow(n):\n    for i in range(n):\n        12 + 3\n    return\t'é'\n")
    counts = [(2, 11, 250_000), (3, 10_000_000, 1_234_567_890), (4, 1, 999)]
    theirs = io.StringIO()
    show_text({(str(path), 1, "slow"): counts}, 1e-9, stream=theirs, config=False)

    assert (
        content(line_profiler_text, lines_of(tmp_path / "run", *counts, file=str(path))).decode() == theirs.getvalue()
    )


def test_lines_come_back_with_the_same_counts(tmp_path: Path) -> None:
    """Also those that line_profiler would shorten; dlprof's own reader finds them to the nanosecond."""
    counts = [(2, 12_345_678_901, 123_456_789_012_345), (3, 1, 0)]
    path = tmp_path / "lines.txt"
    path.write_bytes(content(line_profiler_text, lines_of(tmp_path / "run", *counts)))

    rows = line_profiler_files.read(path).tables["lines"].to_pylist()

    assert [(row["line"], row["hits"], row["time_ns"]) for row in rows] == [(1, 0, 0), *counts]
    assert {(row["file"], row["function"], row["first_line"]) for row in rows} == {("train.py", "slow", 1)}


def test_hostile_names_stay_on_their_line(tmp_path: Path) -> None:
    """A line break in a name does not begin a line of the table."""
    row = {"file": HOSTILE, "function": HOSTILE, "first_line": 1, "line": 1, "hits": 1, "time_ns": 1, "source": HOSTILE}

    text = content(line_profiler_text, make(tmp_path / "run", lines=[row])).decode()

    assert len(text.splitlines()) == 10
    assert "\x1b" not in text


def test_a_run_without_anything_for_it_is_refused(tmp_path: Path) -> None:
    """With a sentence, and nothing written."""
    with pytest.raises(NoInputError, match="has n"):
        content(line_profiler_text, make(tmp_path / "run"))


def test_lines_that_were_not_counted_are_listed_behind_the_tables(tmp_path: Path) -> None:
    """They have no hits, which a row of a table needs; dlprof's own reader passes over the list."""
    counted = {"file": "a.py", "function": "f", "first_line": 1, "line": 1, "hits": 2, "time_ns": 9, "source": "x"}
    seen = {**counted, "function": "g", "line": 5, "hits": None, "time_ns": 10**9, "how": "sampled", "samples": 25}
    path = tmp_path / "lines.txt"

    path.write_bytes(content(line_profiler_text, make(tmp_path / "run", lines=[counted, seen])))

    assert path.read_text().splitlines()[-2:] == [
        "Lines that were not counted, with their time from samples:",
        "  a.py:5 (g): 1 s +- 0.2 s, seen 25 times: x",
    ]
    assert [row["line"] for row in line_profiler_files.read(path).tables["lines"].to_pylist()] == [1]
