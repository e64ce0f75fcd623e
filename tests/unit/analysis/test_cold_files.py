"""Whether files came from disk."""

from __future__ import annotations

import pytest

from dlprof.analysis import cold_files
from dlprof.schema.manifest import Manifest, Process
from dlprof.store.run import Run
from tests.unit.analysis.rows import in_memory, step
from tests.unit.runs import table

MANIFEST = Manifest(process=Process(pid=42))


def run(*faults: tuple[int, int | None], first_step: int | None = None) -> Run:
    """A run with (time, pages read from disk so far)."""
    rows = [{"time_ns": at, "faults_major": pages} for at, pages in faults]
    steps = [] if first_step is None else [step(0, first_step, 10)]
    return in_memory(MANIFEST, process_samples=table("process_samples", rows), steps=table("steps", steps))


def test_pages_are_counted_until_the_training_begins() -> None:
    """What is read later is no matter of imports."""
    assert cold_files.pages_from_disk(run((10, 5), (20, 70), (30, 900), first_step=25)) == 70


def test_without_a_training_all_pages_count() -> None:
    """Up to the last sample."""
    assert cold_files.pages_from_disk(run((10, 5), (30, 900))) == 900


def test_pages_that_were_not_measured_are_not_zero() -> None:
    """None."""
    assert cold_files.pages_from_disk(run((10, None))) is None


@pytest.mark.parametrize(
    ("one", "two", "colder"),
    [(200, 100, True), (100, 200, False), (1000, 900, False), (40, 20, False), (None, 5, False), (5, None, False)],
)
def test_a_run_is_colder_where_it_read_many_more_pages(one: int | None, two: int | None, colder: bool) -> None:
    """By 30 at least, and by half."""
    assert cold_files.is_colder(one, two) is colder
