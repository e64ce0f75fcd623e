"""Loops inside of a TensorFlow graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, on, pick, quiet, slugs
from tests.unit.runs import S

MAP = "    profile = tf.map_fn(interest, rows)\n"


def told(folder: Path, source: str = MAP, op: str = "TensorListStack", ms: float = 1.0) -> Diagnosis:
    """Steps of 20 ms with so long of one operator in each, of a script with this line in its step."""
    kernels = [{"op": op, "category": "other", "layer": "map", "direction": "forward", "ms": ms}]
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": 1, "hits": 3, "time_ns": 1}
    run = runs.trained(folder / "r", {**on("tensorflow"), "keras": None}, **quiet(**runs.window(kernels), lines=[row]))
    keep_source(run, f"def forward(rows):\n{source}    return profile\n")
    return diagnose(run)


def test_a_loop_in_the_graph_is_named_with_its_line(tmp_path: Path) -> None:
    """19 of the 20 ms are outside of kernels: eight tenths of that, of 6 s."""
    finding = pick(told(tmp_path), "dispatch-bound")

    assert (finding.title.text if finding.title else "", finding.line) == (
        "A loop ran inside of the graph, turn by turn",
        2,
    )
    assert finding.at_stake_ns == pytest.approx(0.8 * 5.7 * S, rel=0.01)


def test_a_loop_whose_turns_have_enough_to_do_is_none(tmp_path: Path) -> None:
    """Kernels have most of the step."""
    assert "dispatch-bound" not in slugs(told(tmp_path, ms=16))


@pytest.mark.parametrize(
    ("source", "op"),
    [
        ("    profile = model(rows)\n", "TensorListStack"),  # an LSTM of Keras' has its loop elsewhere
        (MAP, "MatMul"),  # the loop did not run in the steps
    ],
)
def test_a_loop_that_is_not_written_or_did_not_run_is_none(tmp_path: Path, source: str, op: str) -> None:
    """Small steps may be all that there is."""
    found = [one for one in told(tmp_path, source, op).findings if one.slug == "dispatch-bound"]

    assert not [one for one in found if one.title and "loop" in one.title.text]
