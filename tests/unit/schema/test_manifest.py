"""What the manifest tells of a run beyond its fields."""

from __future__ import annotations

import pytest

from dlprof.schema.manifest import Backend, Engine, Gpu, Keras, Machine, Manifest


@pytest.mark.parametrize(
    ("source", "name", "keras", "ran_on"),
    [
        ("managed", "tensorflow1", "tensorflow", "tensorflow1"),
        ("python", None, "jax", "jax"),
        ("python", None, None, "torch"),
    ],
)
def test_a_run_is_on_what_was_asked_for_else_on_what_was_told(
    source: str, name: str | None, keras: str | None, ran_on: str
) -> None:
    """An environment of dlprof's has the name that was asked for; without Keras only the engine has one."""
    told = Manifest(
        backend=Backend(name=name, source=source),
        keras=Keras(backend=keras) if keras else None,
        engine=Engine(name="torch"),
    )

    assert told.ran_on == ran_on


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        ((Gpu(name="H100"), Gpu(name="H200")), ["H100", "H200"]),
        ((Gpu(gpu=1, name="A100"),), [None, "A100"]),
        (None, [None, None]),
    ],
)
def test_gpus_are_called_by_their_numbers(gpus: tuple[Gpu, ...] | None, expected: list[str | None]) -> None:
    """Those of a sampler stand in order; those of a foreign trace say theirs."""
    told = Manifest(gpus=gpus)

    assert [told.gpu_name(0), told.gpu_name(1)] == expected


@pytest.mark.parametrize(
    ("machine", "usable", "expected"),
    [
        (Machine(cores=64), None, 64),
        (Machine(cores=64, usable_cores=8), None, 8),
        (Machine(cores=64, usable_cores=64, quota_cores=1.5), None, 2),
        (Machine(cores=64, usable_cores=1, quota_cores=4.0), None, 1),
        (Machine(cores=64, usable_cores=64, quota_cores=4.0), 2, 2),
        (Machine(quota_cores=4.0), None, None),
        (Machine(), None, None),
    ],
)
def test_cores_at_once_are_those_of_the_affinity_within_the_quota(
    machine: Machine, usable: int | None, expected: int | None
) -> None:
    """Of a quota of one core and a half two are used at once; what is not known is not made up."""
    assert machine.at_once(usable) == expected
