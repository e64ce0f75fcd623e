"""Files of cProfile."""

from __future__ import annotations

import marshal
from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import cprofile, registry
from dlprof.report import summary
from dlprof.report.sections import short
from tests.unit.ingest.formats.samples import PSTATS, put
from tests.unit.ingest.imports import imported


def test_functions_are_sums_with_their_own_time_and_calls(tmp_path: Path) -> None:
    """Built-in functions are named as pstats does; time with callees is in the facts."""
    path = put(tmp_path, marshal.dumps(PSTATS))
    assert registry.find(path) is cprofile.READER

    run = imported(tmp_path, path)

    names = {op["op_id"]: op["name"] for op in run.rows("kernel_ops")}
    assert [(names[row["op_id"]], row["count"], row["total_ns"]) for row in run.rows("kernel_totals")] == [
        ("main (app.py:8)", 1, 1_000_000),
        ("inner (app.py:2)", 11, 180_000_000),
        ("{built-in method time.sleep}", 1, 200_000_000),
    ]
    content = registry.read(path, cprofile.READER)
    assert content.facts["longest_with_callees"][0] == {"function": "main (app.py:8)", "total_ns": 381_000_000}


def test_the_answer_says_that_they_are_functions(tmp_path: Path) -> None:
    """They are no operators, and of no category."""
    report = summary.summarise(imported(tmp_path, put(tmp_path, marshal.dumps(PSTATS))))

    assert report.verdict == (
        "381 ms in Python functions, by their own time: {built-in method time.sleep} (52 %), inner (app.py:2) (47 %), "
        "main (app.py:8) (0.3 %); when is not in the file. With what they call: main (app.py:8) 381 ms, inner (app.py:2) "
        "180 ms."
    )
    assert short.kernels(report) == "381 ms of Python functions"
    assert report.kernels is not None
    assert {row.category for row in report.kernels.rows} == {"other"}


def test_functions_of_packages_and_of_python_are_not_the_users(tmp_path: Path) -> None:
    """Nor is a whole module: it calls everything."""
    places = ["/v/lib/python3.11/json/__init__.py", "/v/site-packages/a.py", "<frozen importlib>", "/home/me/train.py"]
    table: dict[Any, Any] = {(place, 1, name): (1, 1, 0.1, 0.2, {}) for place in places for name in ("f", "<module>")}

    content = cprofile.read(put(tmp_path, marshal.dumps(table)))

    assert content.facts["own_with_callees"] == [{"function": "f (/home/me/train.py:1)", "total_ns": 200_000_000}]


@pytest.mark.parametrize(
    ("row", "message"),
    [((-1, -1, 0.1, 0.2, {}), "it counts no calls"), ((1, 1, float("nan"), 0.2, {}), "nan is no time"), (7, "damaged")],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, row: Any, message: str) -> None:
    """With one sentence."""
    path = put(tmp_path, marshal.dumps({("a.py", 1, "f"): row}))

    with pytest.raises(ArtifactError, match=message):
        registry.read(path, cprofile.READER)
