"""Windows that tf.data cuts one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, pick, waiting_for_input
from tests.unit.analysis.findings.rules.test_input_bound import MADE
from tests.unit.runs import S


@pytest.mark.parametrize(("source", "said"), [("ds.window(80, shift=1)", True), ("ds.flat_map(read)", False)])
def test_windows_that_are_data_sets_each_are_gathered_from_their_first_rows(
    tmp_path: Path, source: str, said: bool
) -> None:
    """False before: to put `.batch` in front of `.map`. Of other data sets the elements are no calls."""
    row = {"window": 0, "pipeline": 0, "starting_ns": 0, "total_ns": S, "asynchronous": False}
    made = {"function": "<lambda>", "file": "train.py", "line": 1, "own_ns": 32_000_000}
    stages = [
        {**row, "stage": 0, "name": "Root", "element_count": 10, "own_ns": 0},
        {**row, "stage": 1, "parent": 0, "name": "BatchV2", "element_count": 10, "own_ns": 0, "batch_size": 32},
        {**row, "stage": 2, "parent": 1, "name": "FlatMap", "element_count": 320, **made},
    ]
    window = {"window": 0, "engine": "tensorflow", "loop": "train", "steps": 10, "start_ns": 3 * S, "dur_ns": S}
    tables = waiting_for_input(input_stages=stages, kernel_windows=[window], **MADE)
    run = runs.trained(tmp_path / "r", None, **tables)
    keep_source(run, source)

    finding = pick(diagnose(run), "input-bound")

    assert ("makes a data set of a window each time" in finding.next_step) == said
    assert ("tf.gather(rows" in str(finding.fix)) == said
    assert "is called for each" not in finding.next_step or said
