"""What `python -X importtime` prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import importtime, registry
from dlprof.report import summary
from dlprof.report.sections import short
from tests.unit.ingest.formats.samples import IMPORTS, put
from tests.unit.ingest.imports import imported


def test_modules_are_sums_with_their_own_time(tmp_path: Path) -> None:
    """What the program prints beside them is counted as passed over."""
    path = put(tmp_path, IMPORTS)
    assert registry.find(path) is importtime.READER

    run = imported(tmp_path, path)

    names = {op["op_id"]: op["name"] for op in run.rows("kernel_ops")}
    assert [(names[row["op_id"]], row["count"], row["total_ns"]) for row in run.rows("kernel_totals")] == [
        ("zipimport", 1, 200_000),
        ("numpy", 1, 1_000_000),
        ("json", 1, 300_000),
    ]
    assert [(row["what"], row["events"]) for row in run.rows("skipped")] == [("lines", 1)]


def test_the_answer_has_what_took_longest_with_what_it_imports(tmp_path: Path) -> None:
    """Imports are no operators."""
    report = summary.summarise(imported(tmp_path, put(tmp_path, IMPORTS)))

    assert report.verdict == (
        "1.50 ms in imports, by their own time: numpy (67 %), json (20 %), zipimport (13 %); when is not in the file. "
        "With what they import: numpy 1.20 ms, json 300 µs."
    )
    assert short.kernels(report) == "1.50 ms of imports"


def test_names_of_modules_tell_no_category(tmp_path: Path) -> None:
    """`random` and `email.header` are no work of a model."""
    text = IMPORTS.replace("numpy", "random")

    run = imported(tmp_path, put(tmp_path, text))

    assert {op["category"] for op in run.rows("kernel_ops")} == {"other"}


def test_processes_that_print_into_one_file_are_added(tmp_path: Path) -> None:
    """Each prints the head once more."""
    content = importtime.read(put(tmp_path, IMPORTS + IMPORTS))

    assert content.facts == {
        "modules": 3,
        "imports_ns": 3_000_000,
        "own_with_callees": [{"function": "numpy", "total_ns": 2_400_000}, {"function": "json", "total_ns": 600_000}],
    }


def test_a_head_without_modules_is_refused(tmp_path: Path) -> None:
    """Nothing was imported, or it was cut."""
    with pytest.raises(ArtifactError, match="no module in it"):
        importtime.read(put(tmp_path, "".join(IMPORTS.splitlines(keepends=True)[:2])))
