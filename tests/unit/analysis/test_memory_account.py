"""What holds memory agrees with what engines say themselves of a step."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import memory, memory_account, memory_owners
from dlprof.analysis.engine_memory import EngineMemory
from dlprof.analysis.memory_owners import Owner
from dlprof.schema.vocabulary import HELD_AT_PEAK, MemoryBasis, MemoryKind
from dlprof.store.run import Run
from tests.unit.runs import fit_span, manifest, trained

MIB = 1 << 20


def owner(kind: str, size: int | None, layer: str | None = None, model: int | None = 0) -> Owner:
    """What shapes tell: variables are exact, what is made in a step is an estimate."""
    how = MemoryBasis.EXACT if kind in ("parameters", "optimizer") else MemoryBasis.ESTIMATE
    return Owner(layer, None, MemoryKind(kind), None, size, how, 1, model)


BY_SHAPES = (
    owner("parameters", 90, "a"),
    owner("gradients", 20, "a"),
    owner("activations", 30, "a"),
    owner("activations", 10, "b"),
    owner("input", 5),
)


def settled(engine: str, held: int, owners: tuple[Owner, ...] = BY_SHAPES) -> dict[tuple[str, str | None], int | None]:
    """Kind and layer to bytes, where an engine says that a step holds so much."""
    told = memory_account.settled(owners, (), [EngineMemory(engine, None, None, held, "so it says")])
    return {(one.kind.value, one.layer): one.bytes for one in told}


def test_what_pytorch_saves_beyond_what_layers_give_is_a_part_of_its_own() -> None:
    """Saved tensors are activations and the batch: 75 of them, 45 of which shapes tell."""
    assert settled("torch", 75) == {**settled("torch", 45), ("activations", None): 30}


def test_an_account_below_the_shapes_is_shared_out_in_proportion() -> None:
    """25 are saved, 5 of which are the batch: layers that give 30 and 10 have 15 and 5."""
    told = settled("torch", 25)

    assert (told["activations", "a"], told["activations", "b"], told["input", None]) == (15, 5, 5)


@pytest.mark.parametrize(("engine", "rest"), [("jax", 40), ("tensorflow", 40), ("mxnet", None)])
def test_plans_and_records_have_workspace(engine: str, rest: int | None) -> None:
    """XLA's temporaries and TensorFlow's allocations are gradients, too; MXNet plans in whole MiB."""
    assert settled(engine, 100).get(("workspace", None)) == rest


def test_a_plan_of_mxnet_has_no_gradients_of_parameters() -> None:
    """These are arrays of its own."""
    assert settled("mxnet", 3 * MIB)["workspace", None] == 3 * MIB - 40


def test_parameters_and_gradients_stay_what_they_are() -> None:
    """An account that is smaller than the gradients takes what layers give to nothing, and no more."""
    assert settled("jax", 10) == {
        ("parameters", "a"): 90, ("gradients", "a"): 20, ("activations", "a"): 0, ("activations", "b"): 0,
        ("input", None): 5,
    }  # fmt: skip


@pytest.mark.parametrize(
    "owners",
    [(*BY_SHAPES, owner("activations", None)), (*BY_SHAPES, owner("parameters", 4, model=1))],
    ids=["a length is not known", "two models"],
)
def test_where_it_is_not_known_whose_step_it_was_shapes_stay(owners: tuple[Owner, ...]) -> None:
    """Nothing is made to agree that cannot be compared."""
    assert memory_account.settled(owners, (), [EngineMemory("torch", None, None, 500, "")]) == owners


def test_an_engine_without_an_account_changes_nothing() -> None:
    """Nor do two engines, of which nobody says which trained."""
    one = EngineMemory("torch", None, None, 500, "")

    assert memory_account.settled(BY_SHAPES, (), []) == BY_SHAPES
    assert memory_account.settled(BY_SHAPES, (), [one, EngineMemory("jax", None, None, 900, "")]) == BY_SHAPES
    assert memory_account.settled(BY_SHAPES, (), [EngineMemory("theano", 9, None)]) == BY_SHAPES


def held(kind: str, layer: str | None, size: int, name: str | None, how: str) -> dict[str, object]:
    """A row of `memory_owners`."""
    row = {"layer": layer, "kind": kind, "bytes": size, "how": how, "count": 1, "name": name}
    return {**row, "model": None if name == HELD_AT_PEAK else 0}


ROWS = [
    held("parameters", "a", 90, "a/kernel", "exact"),
    held("gradients", "a", 20, "a/kernel", "estimate"),
    held("activations", "a", 30, None, "estimate"),
    held("activations", "a", 44, HELD_AT_PEAK, "exact"),
    held("workspace", "a", 56, HELD_AT_PEAK, "exact"),
]


def recorded(path: Path, *spans: dict[str, object]) -> Run:
    """A run on TensorFlow whose allocator left records in a window."""
    told = manifest(engine={"name": "tensorflow", "version": "2.21"})
    return trained(path, told, spans=list(spans) or [fit_span()], memory_owners=ROWS)


def test_records_of_an_allocator_tell_activations_by_layer(tmp_path: Path) -> None:
    """They replace what shapes tell; of all that was held (100), gradients (20) and activations are known apart."""
    found = memory.of_run(recorded(tmp_path / "r"))

    told = {(one.kind.value, one.layer): (one.bytes, one.how.value) for one in found.owners}
    assert told == {
        ("parameters", "a"): (90, "exact"),
        ("gradients", "a"): (20, "estimate"),
        ("activations", "a"): (44, "exact"),
        ("workspace", None): (36, "estimate"),
    }
    assert [(one.engine, one.step_bytes) for one in found.engines] == [("tensorflow", 100)]
    assert memory_owners.by_kind(found.owners)[MemoryKind.ACTIVATIONS] == 44


def test_records_of_a_peak_at_which_activations_were_gone_leave_the_estimate(tmp_path: Path) -> None:
    """Two values of 16 bytes in a dropout layer: the peak was in the update."""
    told = manifest(engine={"name": "tensorflow", "version": "2.21"})
    rows = [row if row["bytes"] != 44 else {**row, "bytes": 2} for row in ROWS]
    found = memory.of_run(trained(tmp_path / "r", told, spans=[fit_span()], memory_owners=rows))

    activations = [(one.bytes, one.how.value) for one in found.owners if one.kind == MemoryKind.ACTIVATIONS]
    assert activations == [(30, "estimate")]


def test_with_batches_of_several_sizes_shapes_stay(tmp_path: Path) -> None:
    """They are of the largest; the account need not be."""
    found = memory.of_run(recorded(tmp_path / "r", fit_span(), {**fit_span(batch_size=4), "span_id": 9}))

    assert memory_owners.by_kind(found.owners)[MemoryKind.ACTIVATIONS] == 30
