"""Backward passes that go through layers for nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, Tables, diagnosed, pick, quiet, slugs

TOLD = runs.manifest(keras=None, engine={"name": "torch", "version": "2.13"})
THROWN = {
    "passes": 12,
    "partly": 6,
    "part": 0.4,
    "share": 0.25,
    "layers": ["g"],
    "of_layers": 0.5,
    "weights": 6,
    "owned": True,
    "line": 26,
}


def training(**changes: Any) -> Tables:
    """300 steps of 6 s, in a loop with these facts about its gradients."""
    detail = json.dumps({"how": "inferred", "unused_gradients": {**THROWN, **changes}})
    return quiet(spans=[runs.span("fit", 2, 8, name="fit", span_id=1, detail=detail)])


def planted() -> Planted:
    """The way back through a generator while only the critic learns: a quarter of the time."""
    return Planted(training(), TOLD)


def test_without_a_window_their_part_of_the_graph_is_at_stake(tmp_path: Path) -> None:
    """With the line, the layers and what cuts the graph."""
    finding = pick(planted().diagnosis(tmp_path), "unused-gradients")

    assert finding.share == pytest.approx(6 / 10 * 0.25, rel=0.01)
    assert finding.line == 26
    assert "6 of 12 backward passes that were looked at went on to 6 weights whose gradients nothing uses (g)" in (
        finding.claim
    )
    assert finding.fix is not None
    assert finding.fix.startswith("detach()")


def test_weights_of_no_optimizer_are_to_need_no_gradient(tmp_path: Path) -> None:
    """Another cause, and another remedy."""
    told = training(partly=12, of_layers=1.0, owned=False, layers=["a", "b", "c", "d"])
    finding = pick(Planted(told, TOLD).diagnosis(tmp_path), "unused-gradients")

    assert "(a, b, c and 1 more): no optimizer has them, and they do not change" in finding.claim
    assert finding.fix is not None
    assert finding.fix.startswith("parameter.requires_grad_(False)")


@pytest.mark.parametrize(
    "changes",
    [
        {"partly": 2},  # somebody looks at gradients now and then
        {"share": 0.03},  # next to nothing
    ],
)
def test_a_little_for_nothing_is_nothing(changes: dict[str, Any], tmp_path: Path) -> None:
    """Few passes, or little time."""
    assert "unused-gradients" not in slugs(diagnosed(tmp_path / "r", TOLD, **training(**changes)))


def test_a_loop_whose_gradients_are_all_used_is_not_judged(tmp_path: Path) -> None:
    """Nothing was told of it."""
    assert "unused-gradients" not in slugs(diagnosed(tmp_path / "r", TOLD, **quiet()))


def gluon(*, is_traced: bool = True) -> Planted:
    """A body that no Trainer has: 3 of 12 ms of a traced step are its way back."""
    told = training(partly=12, of_layers=1.0, owned=False, layers=["body"], share=None)
    ops = [
        {"op": "_backward_FullyConnected", "layer": "body", "direction": "backward", "ms": 3.0},
        {"op": "FullyConnected", "layer": "body", "direction": "forward", "ms": 9.0},
    ]
    traced = runs.window(ops) if is_traced else {}
    return Planted({**told, **traced}, runs.manifest(keras=None, engine={"name": "mxnet", "version": "1.9.1"}))


def test_in_gluon_the_kernels_tell_what_it_takes(tmp_path: Path) -> None:
    """With Gluon's own words and remedy."""
    finding = pick(gluon().diagnosis(tmp_path), "unused-gradients")

    assert "(body): no optimizer has them, or it has them at a rate of 0" in finding.claim
    assert finding.fix is not None
    assert finding.fix.startswith('collect_params().setattr("grad_req", "null")')


def test_without_kernels_nobody_knows_what_it_takes_in_gluon(tmp_path: Path) -> None:
    """Nothing is claimed."""
    assert "unused-gradients" not in slugs(gluon(is_traced=False).diagnosis(tmp_path))


def test_where_no_part_of_the_steps_is_known_to_be_kernels_they_are_a_share_of_the_step(tmp_path: Path) -> None:
    """No step began in the window: a quarter of the 6 s of steps."""
    planted = gluon()
    (traced,) = planted.tables["kernel_windows"]
    traced.update(start_ns=1, dur_ns=1)
    finding = pick(planted.diagnosis(tmp_path), "unused-gradients")

    assert finding.share == pytest.approx(6 / 10 * 0.25, rel=0.01)
