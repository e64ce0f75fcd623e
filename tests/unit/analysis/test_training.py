"""What a run was told of its training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import training
from dlprof.store.run import Run
from tests.unit import runs


def test_the_first_loop_that_trains_is_the_training(tmp_path: Path) -> None:
    """Evaluations before it are none."""
    second = runs.span("on_batch", 9, 9, name="train_on_batch", span_id=5, line=20)
    before = runs.span("evaluate", 1, 1.5, name="evaluate", span_id=4)

    found = training.of_run(runs.trained(tmp_path / "r", spans=[second, runs.fit_span(), before]))

    assert found is not None
    assert found.place == ("train.py", 7)
    assert (found.batch_size, found.samples, found.losses) == (128, 1280, (1.0, 0.5))
    assert found.optimizer == {"class": "SGD", "learning_rate": 0.01}
    assert found.settings["loss"] == "mse"


def test_a_training_that_is_short_beside_a_later_one_is_not_the_main_one(tmp_path: Path) -> None:
    """As one on other data, before: by steps of 3 x 20 ms against 50, what was compiled left out."""
    later = runs.span("fit", 4, 6, name="fit", span_id=5, line=20)
    slow = runs.steps(1, dur_ms=900, compiled=True)
    first, main = runs.steps(3, start_s=2.9), runs.steps(50, start_s=4, loop_id=5)

    found = training.of_run(runs.trained(tmp_path / "r", spans=[runs.fit_span(), later], steps=[*slow, *first, *main]))

    assert found is not None and found.place == ("train.py", 20)


def test_a_run_that_did_not_train_has_none(tmp_path: Path) -> None:
    """Prediction is no training."""
    spans = [runs.span("predict", 1, 2, name="predict")]

    assert training.of_run(runs.trained(tmp_path / "r", spans=spans)) is None


def test_samples_are_the_rows_of_the_data_where_keras_does_not_tell(tmp_path: Path) -> None:
    """Those of the first array."""
    spans = [runs.fit_span(samples=None, data=[None, {"shape": [640, 4]}])]

    found = training.of_run(runs.trained(tmp_path / "r", spans=spans))

    assert found is not None and found.samples == 640


def test_what_the_probe_did_not_tell_is_empty(tmp_path: Path) -> None:
    """Never made up."""
    spans = [runs.span("fit", 2, 8, name="fit", span_id=1, file=None, line=None)]

    found = training.of_run(runs.trained(tmp_path / "r", spans=spans, metrics=runs.losses()))

    assert found is not None
    assert (found.settings, found.weights, found.data, found.samples, found.losses) == ({}, {}, (), None, ())
    assert found.place is None


def test_layers_that_draw_random_numbers_are_named(tmp_path: Path) -> None:
    """Dropout, noise, and random pictures."""
    layers = [{"name": n, "class": c} for n, c in (("a", "Dropout"), ("b", "Dense"), ("c", "RandomFlip"))]

    found = training.of_run(runs.trained(tmp_path / "r", spans=[runs.fit_span(model={"layers": layers})]))

    assert found is not None and found.random == ("a", "c")


def test_losses_are_those_of_epochs_in_their_order(tmp_path: Path) -> None:
    """Not those of steps, of other loops, or other metrics."""
    rows: list[dict[str, Any]] = [
        {"loop_id": 1, "epoch": 1, "step": None, "name": "loss", "value": 0.5, "time_ns": 9},
        {"loop_id": 1, "epoch": 0, "step": None, "name": "loss", "value": 1.0, "time_ns": 3},
        {"loop_id": 1, "epoch": 0, "step": 4, "name": "loss", "value": 7.0, "time_ns": 2},
        {"loop_id": 1, "epoch": 0, "step": None, "name": "mae", "value": 8.0, "time_ns": 3},
        {"loop_id": 2, "epoch": 0, "step": None, "name": "loss", "value": 9.0, "time_ns": 9},
    ]
    spans = [runs.span("fit", 2, 8, name="fit", span_id=1, detail=json.dumps({}))]

    found = training.of_run(runs.trained(tmp_path / "r", spans=spans, metrics=rows))

    assert found is not None and found.losses == (1.0, 0.5)


def own(path: Path, optimizer: str, engine: str = "torch") -> Run:
    """A run whose own loop was found by the updates of an optimiser of that class."""
    detail = {"how": "inferred", "model": {"optimizer": {"name": optimizer, "class": optimizer}}}
    span = runs.span("fit", 2.0, 8.0, name="fit", span_id=1, detail=json.dumps(detail))
    return runs.trained(path, runs.manifest(engine={"name": engine}), spans=[span])


@pytest.mark.parametrize(
    ("second", "engine", "told"),
    [
        ("Adam", "torch", ("SGD", "Adam")),
        ("sgd", "torch", None),
        ("train_step", "torch", None),
        ("optax.apply_updates", "torch", None),
        ("State", "torch", None),
        ("Momentum", "tensorflow", None),
    ],
)
def test_optimisers_of_own_loops_differ_where_their_classes_are_known(
    second: str, engine: str, told: tuple[str, str] | None, tmp_path: Path
) -> None:
    """A compiled function that updates weights is no class; and each engine has names of its own."""
    assert training.other_optimizers(own(tmp_path / "a", "SGD"), own(tmp_path / "b", second, engine)) == told
