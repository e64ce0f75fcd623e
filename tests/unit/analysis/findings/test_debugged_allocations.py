"""Python that records or checks each allocation."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.debugged_allocations import claims
from dlprof.analysis.findings.finding import Claim
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, quiet


def told(path: Path, environment: dict[str, str], source: str = "") -> list[Claim]:
    """The claims of a run with such variables."""
    line = {
        "file": "train.py",
        "function": "<module>",
        "first_line": 1,
        "line": 1,
        "hits": 1,
        "time_ns": 0,
        "source": source,
    }
    run = runs.trained(path, runs.manifest(environment=environment), **quiet(lines=[line]))
    keep_source(run, source)
    return list(claims(Case(run)))


def test_recorded_allocations_are_told_with_the_variable_to_leave_out(tmp_path: Path) -> None:
    """Five frames of each."""
    (claim,) = told(tmp_path / "r", {"PYTHONTRACEMALLOC": "5"})

    assert "with a stack of up to 5 frames (PYTHONTRACEMALLOC=5)" in claim.sentence.before
    assert claim.fix == "leave PYTHONTRACEMALLOC out"
    assert claim.remedy is not None
    assert claim.remedy.environment == {"PYTHONTRACEMALLOC": None}


def test_a_script_that_starts_recording_is_told_its_line(tmp_path: Path) -> None:
    """Nothing in the environment says so."""
    (claim,) = told(tmp_path / "r", {}, "import tracemalloc; tracemalloc.start()\n")

    assert claim.line == ("train.py", 1)
    assert claim.remedy is None
    assert claim.support is not None
    assert claim.support.agree == 1


def test_where_recording_is_stopped_somewhere_it_is_a_question(tmp_path: Path) -> None:
    """Nobody knows for how long it went on."""
    (claim,) = told(tmp_path / "r", {}, "import tracemalloc; tracemalloc.start()\nf()\ntracemalloc.stop()\n")

    assert claim.support is not None
    assert claim.support.agree == 0


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        ({"PYTHONMALLOC": "debug"}, "(PYTHONMALLOC=debug)"),
        ({"PYTHONMALLOC": "malloc_debug"}, "(PYTHONMALLOC=malloc_debug)"),
        ({"PYTHONDEVMODE": "1"}, "(PYTHONDEVMODE=1)"),
    ],
)
def test_checked_allocations_are_told(environment: dict[str, str], asked: str, tmp_path: Path) -> None:
    """Python's allocator for debugging, and its development mode, which has it."""
    (claim,) = told(tmp_path / "r", environment)

    assert asked in claim.sentence.before


@pytest.mark.parametrize(
    "environment", [{}, {"PYTHONMALLOC": "malloc"}, {"PYTHONTRACEMALLOC": "0"}, {"PYTHONDEVMODE": ""}]
)
def test_another_allocator_or_what_is_switched_off_is_none(environment: dict[str, str], tmp_path: Path) -> None:
    """Neither records nor checks."""
    assert told(tmp_path / "r", environment) == []
