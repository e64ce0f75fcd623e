"""Data that a script holds twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import memory_copies
from dlprof.analysis.memory_copies import Copy
from tests.unit.analysis.memory_runs import MB, S, split, stood
from tests.unit.runs import trained

SCRIPT = """\
import numpy as np
rows = [[float(n)] * 100 for n in range(10 ** 5)]
x = np.array(rows)
train(x)
"""
Stand = tuple[float, float, int]
"""From when to when (s) the main thread stood in which line."""
STOOD: Sequence[Stand] = ((1.0, 2.95, 2), (3.0, 3.95, 3), (4.0, 8.0, 4))


def of(path: Path, script: str = SCRIPT, *, after: int = 600, stands: Sequence[Stand] = STOOD) -> tuple[Copy, ...]:
    """The copies of a run: 300 MB grow in the 2nd second, 200 MB in the 4th; then there are so many MB."""
    return memory_copies.of_run(trained(path, **tables(script, after=after, stands=stands)))


def tables(script: str = SCRIPT, *, after: int = 600, stands: Sequence[Stand] = STOOD) -> dict[str, Any]:
    """The tables of such a run; its steps end at 7 s."""

    def own(time_s: float) -> float:
        if time_s >= 4.5:
            return after
        return 100 + 300 * min(1, max(0, time_s - 1)) + 200 * min(1, max(0, time_s - 3))

    samples = [split(n / 10, round((own(n / 10)) * MB)) for n in range(10, 80)]
    stacks: dict[str, Any] = {"stacks": [], "frames": []}
    for begin, end, line in stands:
        for name, rows in stood(begin, end, line).items():
            stacks[name] += rows
    lines = [
        {
            "file": "train.py",
            "function": "<module>",
            "first_line": 1,
            "line": number,
            "hits": 1,
            "time_ns": S,
            "source": text,
        }
        for number, text in enumerate(script.splitlines(), 1)
    ]
    return {"process_samples": samples, "lines": lines, **stacks}


def test_a_list_and_the_array_of_it(tmp_path: Path) -> None:
    """300 MB and 200 MB, and nothing is given back."""
    (copy,) = of(tmp_path / "r")

    assert (copy.file, copy.line, copy.name, copy.source_line) == ("train.py", 3, "rows", 2)
    assert copy.source_bytes == pytest.approx(300 * MB, rel=0.15)
    assert copy.copy_bytes == pytest.approx(200 * MB, rel=0.15)


def test_what_is_given_back_was_not_held(tmp_path: Path) -> None:
    """The source was let go, whatever the names say."""
    assert of(tmp_path / "r", after=300) == ()


@pytest.mark.parametrize(
    "line",
    ["del rows", "rows = None", "rows = np.array(rows)"],
)
def test_a_name_that_is_let_go_is_no_copy(tmp_path: Path, line: str) -> None:
    """Though an allocator may keep its memory."""
    script = (
        SCRIPT.replace("x = np.array(rows)", line)
        if "array" in line
        else SCRIPT.replace("train(x)", f"{line}\ntrain(x)")
    )
    assert of(tmp_path / "r", script) == ()


def test_an_array_that_is_made_of_nothing_large_is_no_copy(tmp_path: Path) -> None:
    """What line 2 grew is of another name."""
    assert of(tmp_path / "r", SCRIPT.replace("np.array(rows)", "np.array(other)")) == ()


def test_what_a_function_that_returned_had_is_gone(tmp_path: Path) -> None:
    """In one that still runs it is held."""
    script = "def f():\n rows = load()\n x = np.array(rows)\n return x\ntrain(f())\n"
    stands = [*STOOD[:2], (4.0, 8.0, 5)]
    assert of(tmp_path / "gone", script, stands=stands) == ()
    running = "def f():\n rows = load()\n x = np.array(rows)\n train(x)\nf()\n"
    assert [copy.name for copy in of(tmp_path / "running", running)] == ["rows"]


def test_a_text_that_is_no_python_says_nothing(tmp_path: Path) -> None:
    """Nor does a run without samples."""
    assert of(tmp_path / "r", SCRIPT + "def (") == ()
    assert memory_copies.of_run(trained(tmp_path / "bare")) == ()
