"""What the host did while it ran no operator, in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

from dlprof.report import summary
from tests.unit.foreign import Event, foreign, marked
from tests.unit.runs import table

WORK = Event("operator", "aten::mm", 0, 20)


def test_ranges_of_the_user_are_named_the_longest_first(tmp_path: Path) -> None:
    """Those of less than a twentieth of the trace are not."""
    run = foreign(tmp_path / "r", WORK, marked("evaluate", 20, 30), marked("log", 50, 3), marked("save", 53, 47))

    assert (
        "In the 80.0 ms in which the host ran no operator it was in save 47.0 ms, evaluate 30.0 ms."
        in summary.summarise(run).verdict
    )


def test_the_function_with_most_time_is_named_with_its_call(tmp_path: Path) -> None:
    """As the import found it."""
    run = foreign(tmp_path / "r", WORK, Event("operator", "aten::mm", 90, 10))
    told = {"file": "a.py", "line": 7, "function": "log", "ns": 60_000_000, "inner": "sleep", "inner_ns": 50_000_000}
    rows = [{**row, "facts": json.dumps({"python_functions": [told]})} for row in run.rows("sources")]
    run._tables["sources"] = table("sources", rows)

    assert (
        "In the 70.0 ms in which the host ran no operator it was in log (a.py:7) 60.0 ms, 50.0 ms of it in sleep."
        in summary.summarise(run).verdict
    )


def test_a_trace_without_either_has_no_such_sentence(tmp_path: Path) -> None:
    """It shows nothing that the host did."""
    run = foreign(tmp_path / "r", WORK, Event("operator", "aten::mm", 90, 10))

    assert "ran no operator" not in summary.summarise(run).verdict
