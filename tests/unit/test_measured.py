"""What is `measured` may fail once; nothing else may."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
INI = "[pytest]\naddopts = -raR\nmarkers =\n    integration\n    slow\n    quick\n    measured\n"
TESTS = """
import pathlib
import pytest

def passes_the_second_time(name):
    path = pathlib.Path(__file__).with_name(name)
    was_there = path.exists()
    path.touch()
    assert was_there, "it was too busy"

@pytest.mark.measured
def test_measured():
    passes_the_second_time("a")

def test_exact():
    passes_the_second_time("b")

@pytest.mark.measured
def test_never():
    assert 1 == 2, "always"
"""


@pytest.mark.slow
def test_what_is_measured_is_tried_twice_and_the_summary_says_why(tmp_path: Path) -> None:
    """One passes, one fails twice; what is exact fails at once."""
    shutil.copy(CONFTEST, tmp_path / "conftest.py")
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "test_some.py").write_text(TESTS)

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert "2 failed, 1 passed, 2 rerun" in done.stdout
    _, _, again = done.stdout.partition("measured a second time")
    assert "test_some.py::test_measured: AssertionError: it was too busy" in again
    assert "test_some.py::test_never: AssertionError: always" in again
    assert "FAILED test_some.py::test_exact" in done.stdout
