"""What is said of memory of processes that may share pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import memory
from dlprof.report import memory_json, shared_pages
from dlprof.report.memory_json import MemoryReport
from dlprof.store.run import Run
from tests.unit.analysis.memory_runs import MB, over_training, split, training
from tests.unit.runs import trained


def told(folder: Path, *samples: dict[str, Any]) -> MemoryReport:
    """Memory of a run with these samples of its processes."""
    return of(trained(folder / "r", process_samples=list(samples)))


def of(run: Run) -> MemoryReport:
    """Memory of a run."""
    return memory_json.as_json(memory.of_run(run))


def test_of_one_process_nothing_is_shared(tmp_path: Path) -> None:
    """Nor of none."""
    assert (shared_pages.counted(told(tmp_path, split(4, 600))), shared_pages.counted(None)) == ("", "")


@pytest.mark.parametrize(
    ("kernel", "text"), [(677, " (677 MB between samples, or while kernels were traced)"), (620, "")]
)
def test_what_the_kernel_saw_of_one_process_stands_beside_its_peak(tmp_path: Path, kernel: int, text: str) -> None:
    """Where that is more than a little above the largest sample."""
    found = told(tmp_path, split(4, 617 * MB, peak_rss_bytes=kernel * MB))

    assert shared_pages.beside_peak(found, 1) == text


def test_of_several_processes_it_is_said_how_shared_pages_count(tmp_path: Path) -> None:
    """The kernel's figure is of one of them."""
    found = told(tmp_path, split(4, 600, peak_rss_bytes=900), split(4, 500, pid=43))

    assert shared_pages.beside_peak(found, 2) == " (pages that they share count in each)"


def test_in_short_only_how_many_processes_there_were_is_known() -> None:
    """Their memory is not looked at further."""
    assert [shared_pages.beside_peak(None, count) for count in (1, 3)] == ["", " (pages that they share count in each)"]


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, " (pages that they share count in each)"),
        ({"pss_bytes": 300 * MB}, " (pages that they share count in each; each once: 600 MB, at one of few looks)"),
    ],
    ids=["not looked at", "looked at"],
)
def test_the_peak_of_several_says_that_shared_pages_count_in_each(
    tmp_path: Path, more: dict[str, Any], text: str
) -> None:
    """With proportional sizes, where these were read."""
    assert shared_pages.counted(told(tmp_path, split(4, 600, **more), split(4, 500, pid=43, **more))) == text


def test_that_workers_do_not_grow_is_not_said_by_resident_memory(tmp_path: Path) -> None:
    """A page that a worker stops sharing was in its resident memory before."""
    tables = training([500 * MB] * 100)
    tables["process_samples"] += [{**one, "pid": 43} for one in tables["process_samples"]]

    assert shared_pages.growth_verdict(of(trained(tmp_path / "r", **tables))) == (
        "no growth beyond doubt in what the process itself has; pages that those below it stop sharing were not looked at"
    )


def test_of_one_process_resident_memory_is_the_judge(tmp_path: Path) -> None:
    """It shares with none."""
    assert shared_pages.growth_verdict(of(over_training([500 * MB] * 100, tmp_path / "r"))) == "no growth beyond doubt"
