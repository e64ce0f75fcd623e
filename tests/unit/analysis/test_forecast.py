"""What other settings would bring, from how a step is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import forecast, training
from dlprof.analysis.forecast import Forecast, Step
from tests.unit import runs

KERNELS = [
    {"op": "mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 8},
    {"op": "sgd", "category": "optimizer", "layer": "dense", "direction": "update", "ms": 2},
]


def told(path: Path, settings: dict[str, Any], kernels: list[dict[str, Any]] | None = KERNELS, **facts: Any) -> Any:
    """What is forecast of a run of 250 steps of 20 ms, of which kernels take 10."""
    tables = runs.window(kernels) if kernels else {}
    span = runs.fit_span(**{"batch_size": 100, "samples": 1000, **facts})
    run = runs.trained(path / "r", spans=[span], metrics=runs.losses(1.0, 0.5), **tables)
    return forecast.of_run(run, training.of_run(run), settings)


def test_work_grows_with_the_batch_and_the_rest_does_not() -> None:
    """8 of 20 are by the row: twice the rows are 28."""
    now = Step(by_row=8, updates=2, starting=10, batch=100, joined=1)

    assert now.with_batch(200).ns == 28
    assert now.with_joined(5).ns == 12


def test_a_batch_of_twice_the_rows(tmp_path: Path) -> None:
    """Steps of 28 ms instead of 20, and 5 instead of 10 an epoch: 140 ms instead of 200, twice."""
    found = told(tmp_path, {"batch_size": 200})

    assert isinstance(found, Forecast)
    assert found.step == pytest.approx(1.4)
    assert found.sample == pytest.approx(0.7)
    assert found.training_ns == pytest.approx(-120e6)


def test_more_steps_of_a_call_share_its_start(tmp_path: Path) -> None:
    """10 ms of 20 are there once a call."""
    found = told(tmp_path, {"steps_per_execution": 10}, training={"steps_per_execution": 1})

    assert isinstance(found, Forecast)
    assert found.step == pytest.approx(11 / 20)


@pytest.mark.parametrize(
    ("settings", "facts", "why"),
    [
        ({"batch_size": 200, "threads": 1}, {}, "nothing that was measured tells what threads changes"),
        ({}, {}, "no setting is Keras' own"),
        ({"batch_size": 200}, {"batch_size": None}, "the rows of a batch, or of an epoch, are not known"),
    ],
)
def test_what_is_not_known_is_not_forecast(tmp_path: Path, settings: Any, facts: Any, why: str) -> None:
    """With the reason."""
    assert told(tmp_path, settings, **facts) == why


def test_without_a_kernel_window_nothing_is_forecast(tmp_path: Path) -> None:
    """A step is then one figure."""
    assert told(tmp_path, {"batch_size": 200}, None) == "no kernel window tells what a step is spent on"
