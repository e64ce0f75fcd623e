"""What a run tells of its model."""

from __future__ import annotations

from dlprof.ingest.attribution.labels import model_of, snake


def test_a_run_with_one_step_of_the_users_own_has_no_such_steps() -> None:
    """Older runs, which do not tell, neither."""
    layers = [{"name": "dense_1", "class": "Dense"}]
    keras, own, old = (
        {"layers": layers, "keras_steps": True},
        {"layers": layers, "keras_steps": False},
        {"layers": layers},
    )

    assert model_of([keras, keras], []).keras_steps
    assert not model_of([keras, own], []).keras_steps
    assert not model_of([old], []).keras_steps
    assert not model_of([], []).keras_steps


def test_the_optimiser_has_one_name_on_every_backend() -> None:
    """Keras 3 gives it one, Keras 2 only has the class."""
    modern = model_of([{"layers": [], "models": [], "optimizer": {"name": "rmsprop", "class": "RMSprop"}}], [])
    classic = model_of([{"layers": [], "models": [], "optimizer": {"name": None, "class": "RMSprop"}}], [])

    assert modern.optimizers == ("rmsprop", "rm_sprop", "RMSprop")
    assert classic.optimizers[0] == "rm_sprop"
    assert snake("RMSprop") == "rm_sprop"
