"""Loaders, their passes and their processes."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import loaders
from tests.unit import runs
from tests.unit.analysis.findings.loading import passes, processes
from tests.unit.runs import S


def test_passes_over_one_loader_are_together(tmp_path: Path) -> None:
    """In order of time, with what they gave."""
    rows = [*passes(3), *passes(1, loader=2, line=9, workers=0)]
    first, second = loaders.of_run(runs.make(tmp_path / "r", loaders=rows))

    assert (first.place, first.items, len(first.passes)) == (("train.py", 5), 150, 3)
    assert (second.place, second.items, second.processes) == (("train.py", 9), 50, ())
    assert first.called == "DataLoader of Images"


def test_processes_that_a_pass_starts_are_its_workers(tmp_path: Path) -> None:
    """By their numbers; those of another pass take their places, and one that comes later is nobody's."""
    late = {"pid": 900, "role": "worker", "name": "cruncher-0", "start_ns": 3 * S, "cpu_ns": S}
    rows = [*processes(0.5, 0.25), late]
    (loader,) = loaders.of_run(runs.make(tmp_path / "r", loaders=passes(), processes=rows))

    assert [(one.pid, one.index) for one in loader.processes] == [
        (100, 0), (101, 1), (200, 0), (201, 1), (300, 0), (301, 1),
    ]  # fmt: skip


def test_workers_of_keras_start_later_in_their_pass(tmp_path: Path) -> None:
    """A thread of its own starts them; they count by their turn."""
    rows = [
        {"pid": 7 + n, "role": "worker", "name": f"ForkPoolWorker-{n}", "start_ns": 3 * S + n, "cpu_ns": 1}
        for n in range(3)
    ]
    of_keras = passes(1, kind="PyDataset")
    (loader,) = loaders.of_run(runs.make(tmp_path / "r", loaders=of_keras, processes=rows))

    assert [(one.pid, one.index) for one in loader.processes] == [(7, 0), (8, 1), (9, 0)]


def test_workers_of_gluon_are_those_that_the_line_of_their_loader_started(tmp_path: Path) -> None:
    """Before its first pass; of two loaders of a line the first one's come first."""
    rows = [
        {"pid": 7 + n, "role": "worker", "file": "train.py", "line": line, "start_ns": n, "cpu_ns": 1}
        for n, line in enumerate((5, 5, 9, 5, 5))
    ]
    of_gluon = [*passes(2, kind="Gluon DataLoader"), *passes(1, kind="Gluon DataLoader", loader=2)]
    first, second = loaders.of_run(runs.make(tmp_path / "r", loaders=of_gluon, processes=rows))

    assert [(one.pid, one.index) for one in first.processes] == [(7, 0), (8, 1)]
    assert [(one.pid, one.index) for one in second.processes] == [(10, 0), (11, 1)]


def test_a_run_without_loaders_has_none(tmp_path: Path) -> None:
    """As one of an older dlprof."""
    assert loaders.of_run(runs.make(tmp_path / "r")) == ()
