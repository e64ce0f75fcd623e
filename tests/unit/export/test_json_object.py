"""A run as one JSON object."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.diagnose import brief
from dlprof.export import json_object
from dlprof.report.json_text import plain
from dlprof.report.summary import summarise
from dlprof.schema.manifest_json import as_builtins
from dlprof.schema.tables import TABLES
from dlprof.store.run import Run
from tests.unit.export.run_of_everything import whole
from tests.unit.runs import make


def as_json(run: Run) -> Any:
    """The JSON object; what strict readers refuse is refused."""
    out = io.BytesIO()
    json_object.write(run, out)
    return json.loads(out.getvalue(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_json_has_manifest_report_and_every_table(tmp_path: Path) -> None:
    """What `dlprof report --json` gives, and all rows."""
    run = whole(tmp_path / "run")

    found = as_json(run)

    assert found["schema"] == "dlprof.export/1"
    assert found["manifest"] == as_builtins(run.manifest)
    assert found["report"] == json.loads(json.dumps(plain(summarise(run, diagnosis=brief(run)))))
    assert set(found["tables"]) == set(TABLES)
    assert found["tables"]["stacks"] == run.rows("stacks")
    assert found["left_out"] == []


def test_json_says_what_it_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many rows, and where they can be had."""
    monkeypatch.setattr(json_object, "KERNEL_EVENTS_AT_MOST", 5)

    found = as_json(whole(tmp_path / "run"))

    assert "kernel_events" not in found["tables"]
    assert found["left_out"] == [
        {"table": "kernel_events", "rows": 6, "because": "more than 5 rows; dlprof export --to parquet has them"}
    ]


def test_json_has_no_numbers_that_json_does_not_know(tmp_path: Path) -> None:
    """A loss that is not a number is a text, not null: it was measured."""
    values = [float("nan"), float("inf"), float("-inf"), 1.5]
    metrics = [
        {"loop_id": 1, "epoch": n, "name": "loss", "value": value, "time_ns": 0} for n, value in enumerate(values)
    ]

    found = as_json(make(tmp_path / "run", metrics=metrics))

    assert [row["value"] for row in found["tables"]["metrics"]] == ["NaN", "Infinity", "-Infinity", 1.5]
