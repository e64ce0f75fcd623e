"""The table of lines per function."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.lines import FunctionLines, Line
from dlprof.report import line_tables
from dlprof.schema.vocabulary import LineSource
from tests.unit.runs import MS, trained, window

LINES = (Line(3, 0, 0, "def train():"), Line(4, 2, 90 * MS, "\tstep()"), Line(5, 4, 4 * MS, None))
TRAIN = FunctionLines("train.py", "train", 3, 100 * MS, LINES)


def printed(path: Path, *functions: FunctionLines, probes: list[dict[str, Any]] | None = None) -> list[str]:
    """The lines of the text, without empty ones."""
    out = io.StringIO()
    line_tables.print_tables(trained(path / "r", probes=probes or []), functions, file=out)
    return [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]


def test_a_function_has_a_head_and_a_row_for_each_line(tmp_path: Path) -> None:
    """In the form of line_profiler."""
    assert printed(tmp_path, TRAIN) == [
        "train  train.py:3",
        "total 100 ms; a line's time contains what it calls",
        "Line #       Hits     Time (ms)   Per Hit (ms)  % Time  Line Contents",
        "     3                                                  def train():",
        "     4          2        90.000        45.0000    90.0      step()",
        "     5          4         4.000         1.0000     4.0",
    ]


def test_lines_of_compiled_functions_are_named_by_their_kernels(tmp_path: Path) -> None:
    """No clock in Python sees them: the line that seems to take long is one that waits."""
    made = {"op": "sort", "category": "other", "file": "train.py", "line": 23, "ms": 9}
    run = trained(tmp_path / "r", **window([made, {"op": "copy", "category": "data_movement", "ms": 1}]))
    out = io.StringIO()
    line_tables.print_tables(run, [TRAIN], file=out)
    told = " ".join(out.getvalue().split())

    assert "In kernel windows train.py:23 made 90.0 % of the kernels' time" in told
    assert told.endswith("--by line")


def test_lines_of_a_function_without_time_have_no_share(tmp_path: Path) -> None:
    """0 %, and no division by it."""
    idle = FunctionLines("train.py", "train", 3, 0, (Line(4, 1, 0, "pass"),))

    assert printed(tmp_path, idle)[-1].split() == ["4", "1", "0.000", "0.0000", "0.0", "pass"]


@pytest.mark.parametrize(
    ("probes", "reason"),
    [([{"name": "lines", "state": "off", "reason": "it was off"}], "it was off"), ([], "no profiled function ran")],
)
def test_a_run_without_lines_says_why(tmp_path: Path, probes: list[dict[str, Any]], reason: str) -> None:
    """In place of a table."""
    assert printed(tmp_path, probes=probes) == [f"No line was measured, because {reason}."]


def test_a_sampled_function_says_so_and_gives_the_error_of_each_time(tmp_path: Path) -> None:
    """In place of hits: in how many samples the line was seen; 800 ms in 16 samples are known to 200 ms."""
    sampled = FunctionLines("d.py", "get", 3, 800 * MS, (Line(4, None, 800 * MS, "x", 16),), LineSource.SAMPLED)

    assert printed(tmp_path, sampled) == [
        "get  d.py:3",
        "not counted here: from samples, about 800 ms on all threads; a line's time contains what it calls",
        "Line #       Hits     Time (ms)   Per Hit (ms)  % Time  Line Contents",
        "     4    16 seen    800 +- 200                  100.0  x",
    ]


def test_a_function_that_was_counted_in_windows_has_estimated_hits_and_times_from_samples(tmp_path: Path) -> None:
    """Marked with a tilde; 400 ms in 16 samples are known to 100 ms."""
    scaled = FunctionLines("d.py", "get", 3, 400 * MS, (Line(4, 2000, 400 * MS, "x", 16),), LineSource.SCALED)

    head, about, *_, row = printed(tmp_path, scaled)

    assert (head, about.split(";")[0]) == ("get  d.py:3", "total about 400 ms")
    assert row.split() == ["4", "~2000", "400", "+-", "100", "100.0", "x"]


def test_hits_that_steps_tell_are_no_estimate(tmp_path: Path) -> None:
    """Among lines that were counted in windows: no tilde, and a time for each hit."""
    line = Line(4, 2000, 400 * MS, "x", 16, is_known=True)
    *_, row = printed(tmp_path, FunctionLines("d.py", "get", 3, 400 * MS, (line,), LineSource.SCALED))

    assert row.split() == ["4", "2000", "400", "+-", "100", "0.2000", "100.0", "x"]


def test_a_scaled_line_in_few_samples_says_in_how_many(tmp_path: Path) -> None:
    """And one in none that it was not seen: it is not known to have taken no time."""
    lines = (Line(4, 600, 195 * MS, "x", 1, is_known=True), Line(5, 600, 0, "y", 0, is_known=True))
    *_, one, other = printed(tmp_path, FunctionLines("d.py", "get", 3, 195 * MS, lines, LineSource.SCALED))

    assert one.split() == ["4", "600", "195,", "1", "seen", "100.0", "x"]
    assert other.split() == ["5", "600", "not", "seen", "0.0", "y"]
