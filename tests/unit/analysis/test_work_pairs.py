"""Work of layers of two sides: more of it, or the same done worse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import work_pairs
from dlprof.analysis.compare import Side
from dlprof.analysis.work_pairs import WorkPair
from dlprof.schema.vocabulary import WorkCause
from dlprof.store.run import Run
from tests.unit.runs import MS, steps, trained, window

FLOPS = 2 * 100 * 1000 * 1000
"""Of a product of 100 by 1,000 and 1,000 by 1,000."""


def layer(rows: int = 100) -> dict[str, Any]:
    """A row of `layers`, given so many rows."""
    return {
        "model": 1, "layer": "dense", "class": "Dense", "inputs": [f"{rows}x1000"], "output": f"{rows}x1000",
        "dtype": "float32", "calls": 1, "trained": True, "first": True, "weight_names": ["kernel"],
        "weights": ["1000x1000"], "bytes_per_value": 4,
    }  # fmt: skip


def run(path: Path, ms: float | None, rows: int = 100) -> Run:
    """A run whose forward pass takes so long in each step; None: it has no kernel window."""
    kernel = {"op": "MatMul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": ms}
    return trained(path, layers=[layer(rows)], **(window([kernel]) if ms is not None else {}))


def joined(a: Run, b: Run) -> WorkPair:
    """Two runs."""
    return work_pairs.join(Side("a", (a,)), Side("b", (b,)))


def test_the_same_work_at_a_third_of_the_rate(tmp_path: Path) -> None:
    """0.2 GFLOP in 12 ms, and in 4 ms."""
    found = joined(run(tmp_path / "a", 12), run(tmp_path / "b", 4))

    assert (found.a_flops, found.b_flops) == (FLOPS, FLOPS)
    assert (found.a_ns, found.b_ns) == (12 * MS, 4 * MS)
    assert found.a_flops_per_s == pytest.approx(FLOPS / 0.012)
    assert found.b_flops_per_s == pytest.approx(FLOPS / 0.004)
    assert found.cause == WorkCause.LOWER_RATE
    assert found.layers[0].cause == WorkCause.LOWER_RATE


def test_kernels_that_overlap_share_the_time_of_the_step(tmp_path: Path) -> None:
    """Two gradients of 8 ms each run on two threads at once: together they take 8 ms of the step, and no 16."""
    kernel = {"category": "matmul", "layer": "dense", "ms": 8}
    made = window(
        [{**kernel, "op": "Forward", "direction": "forward"}, {**kernel, "op": "Back", "direction": "backward"}]
    )
    starts = {event["step"]: event["start_ns"] for event in reversed(made["kernel_events"])}
    for event in made["kernel_events"]:
        event.update(start_ns=starts[event["step"]], lane=f"t{event['op_id']}")
    both = trained(tmp_path / "a", layers=[layer()], **made)

    found = joined(both, both)

    assert [(item.direction, item.a_ns) for item in found.layers] == [("forward", 4 * MS), ("backward", 4 * MS)]
    assert (found.a_ns, found.b_ns) == (8 * MS, 8 * MS)


def test_the_time_of_a_layer_is_that_of_a_step_without_a_tracer(tmp_path: Path) -> None:
    """Traced steps of 40 ms, half of them this layer's, beside plain ones of 20 ms."""
    kernel = {"op": "MatMul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 20}
    slow, plain = steps(10, start_s=3.0, dur_ms=40.0), steps(200, start_s=3.5)
    traced = trained(tmp_path / "a", layers=[layer()], **{**window([kernel], dur_ms=40.0), "steps": slow + plain})

    assert joined(traced, run(tmp_path / "b", 4)).a_ns == 10 * MS


@pytest.mark.parametrize(
    ("a_ms", "a_rows", "cause"),
    [
        (12.0, 300, WorkCause.MORE_WORK),
        (12.0, 100, WorkCause.LOWER_RATE),
        (16.0, 200, WorkCause.BOTH),
        (4.5, 100, WorkCause.ALIKE),
        (12.0, 50, WorkCause.LOWER_RATE),
    ],
)
def test_a_gap_is_put_down_to_what_most_of_it_comes_from(
    tmp_path: Path, a_ms: float, a_rows: int, cause: WorkCause
) -> None:
    """Against 100 rows in 4 ms."""
    assert joined(run(tmp_path / "a", a_ms, a_rows), run(tmp_path / "b", 4)).cause == cause


def test_without_a_window_there_is_work_and_no_rate(tmp_path: Path) -> None:
    """The reason names the side."""
    found = joined(run(tmp_path / "a", 12), run(tmp_path / "b", None))

    assert (found.a_step_flops, found.b_step_flops) == (2 * FLOPS, 2 * FLOPS)
    assert (found.a_flops, found.b_flops_per_s, found.cause) == (None, None, None)
    assert found.why_not == "B: no kernel of its layers was traced"


def test_a_model_that_tells_no_layers_says_so(tmp_path: Path) -> None:
    """There is nothing to compare."""
    found = joined(trained(tmp_path / "a"), run(tmp_path / "b", 4))

    assert found.why_not is not None
    assert found.why_not.startswith("A: no model told its layers")
    assert [(item.layer, item.a_flops, item.b_flops) for item in found.layers[:1]] == [("dense", None, FLOPS)]
