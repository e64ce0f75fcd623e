"""Embeddings of which all rows are updated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    BUSY,
    Planted,
    Tables,
    cpu,
    diagnosed,
    on,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.analysis.findings.test_heavy_weights import KERNELS, parameter
from tests.unit.runs import S


def tables(rows: int = 50_000, words: str = "128x20x100", kind: str = "Embedding") -> Tables:
    """A table of that many rows of 100 numbers, and steps that look up so many; three quarters of a step are its update
    and its gradient.
    """
    layer: dict[str, Any] = {
        "model": 0, "layer": "words", "class": kind, "inputs": ["128x20"], "output": words, "dtype": "float32",
        "calls": 1, "trained": True, "first": True, "weight_names": ["embeddings"], "weights": [f"{rows}x100"],
        "bytes_per_value": 4,
    }  # fmt: skip
    owners = [parameter("words", f"{rows}x100"), parameter("dense", "100x10")]
    return {**quiet(), **runs.window(KERNELS), "memory_owners": owners, "layers": [layer]}


def planted() -> Planted:
    """50,000 rows, of which a step looks up 2,560 at most."""
    return Planted(tables())


def test_a_table_that_is_updated_as_a_whole_is_named(tmp_path: Path) -> None:
    """Nine tenths of the update (3 s) and of its gradient (1.2 s)."""
    finding = pick(planted().diagnosis(tmp_path), "dense-gradient")

    assert finding.at_stake_ns == pytest.approx(0.9 * 4.2 * S, rel=0.01)
    assert "all rows of words (50,000 x 100) and updates them, though it looks up no more than 2,560;" in finding.claim
    assert finding.fix is not None
    assert "trainable=False" in finding.fix


def test_memory_that_a_gradient_has_anew_in_each_step_is_part_of_it(tmp_path: Path) -> None:
    """5,000 pages, 20 MB, in each of 300 steps of 20 ms, 4 of which are Python; half of the CPU time was in the kernel.

    Nine tenths of these 2.7 s: those in its kernels (3.78 s) are in these already, 0.59 s are in the 1.2 s beside them.
    No other rule tells of the same pages.
    """
    process = {**runs.manifest()["process"], "cpu_user_ns": 9 * S, "cpu_system_ns": 3 * S}
    counted = cpu((2.0, {**BEGIN, "faults_minor": 0}), (8.0, {**BUSY, "faults_minor": 1_500_000}))
    words = parameter("words", "50000x100", bytes=20_480_000)
    window = runs.window([*KERNELS[:3], {**KERNELS[3], "ms": 1}])
    changed = {**tables(), **window, **counted, "memory_owners": [words, parameter("dense", "100x10")]}
    found = diagnosed(tmp_path / "r", runs.manifest(process=process), **changed)

    finding = pick(found, "dense-gradient")
    assert "words (50,000 x 100), in memory that is new each time, and updates them" in finding.claim
    assert finding.at_stake_ns / S == pytest.approx(3.78 + 0.586, rel=0.01)
    assert "memory-pressure" not in slugs(found)


def test_a_table_that_is_looked_up_as_a_whole_is_no_cause(tmp_path: Path) -> None:
    """128 times 400 look-ups go through all of it."""
    assert "dense-gradient" not in slugs(diagnosed(tmp_path / "r", **tables(words="128x400x100")))


def test_a_small_table_is_no_cause(tmp_path: Path) -> None:
    """10,000 rows of 100 numbers."""
    assert "dense-gradient" not in slugs(diagnosed(tmp_path / "r", **tables(10_000, words="8x20x100")))


def test_a_layer_that_multiplies_has_a_dense_gradient_by_right(tmp_path: Path) -> None:
    """Its class is no embedding."""
    assert "dense-gradient" not in slugs(diagnosed(tmp_path / "r", **tables(kind="Dense")))


def test_without_shapes_the_way_back_tells(tmp_path: Path) -> None:
    """Four times what looking up takes is usual; 16 times is not: nine tenths of 3 s and 1.6 s."""
    found = Planted({**quiet(), **runs.window(KERNELS)})
    long = [{**one, "ms": 0.25} if one["op"] == "gather" else one for one in KERNELS]
    alone = Planted({**quiet(), **runs.window(long)})

    assert "dense-gradient" not in slugs(found.diagnosis(tmp_path / "a"))
    finding = pick(alone.diagnosis(tmp_path / "b"), "dense-gradient")
    assert "takes 16 x what looking up takes" in finding.claim
    assert finding.at_stake_ns == pytest.approx(0.9 * 14 / 19.25 * 5.775 * S, rel=0.01)


TAKES: list[dict[str, Any]] = [
    {"op": "take", "category": "embedding", "layer": None, "direction": None, "ms": 0.1},
    {"op": "broadcast_mul", "category": "elementwise", "layer": None, "direction": None, "ms": 1},
    {"op": "sgd_update", "category": "optimiser", "layer": "trainer", "direction": "update", "ms": 10},
]
"""A step that looks rows up, and updates all that can be looked up."""


def _looks_up(
    folder: Path, kernels: list[dict[str, Any]], text: str = "u = nd.take(self.user.data(), users)"
) -> Diagnosis:
    rows = [{"file": "train.py", "function": "f", "first_line": 1, "line": 9, "hits": 5, "time_ns": S, "source": text}]
    own = {**quiet(), **runs.window(kernels), "lines": rows, "spans": [runs.fit_span(how="inferred")]}
    return diagnosed(folder, on("mxnet"), **own)


def test_weights_that_only_look_ups_go_through_are_a_table(tmp_path: Path) -> None:
    """No layer and no shape was told: updating takes a hundred times what looking up takes, and nothing multiplies."""
    found = _looks_up(tmp_path / "r", TAKES)

    finding = pick(found, "dense-gradient")
    assert "takes 100 x what looking rows up takes" in finding.claim
    assert (finding.file, finding.line) == ("train.py", 9)
    assert finding.at_stake_ns == pytest.approx(0.9 * 10 / 11.1 * 0.555 * 6 * S, rel=0.05)


@pytest.mark.parametrize(
    ("kernels", "text"),
    [
        ([*TAKES, {"op": "dot", "category": "matmul", "layer": None, "direction": None, "ms": 4}], "nd.take(w, ids)"),
        ([{**TAKES[0], "ms": 1}, *TAKES[1:]], "nd.take(w, ids)"),
        (TAKES, "u = self.user.data()"),
    ],
)
def test_updates_of_what_steps_multiply_or_look_up_for_long_are_no_table(
    tmp_path: Path, kernels: list[dict[str, Any]], text: str
) -> None:
    """Products go through all of their weights, too; and a table has a line that looks rows up."""
    assert "dense-gradient" not in slugs(_looks_up(tmp_path / "r", kernels, text))


def test_a_table_whose_update_is_a_small_part_of_the_steps_is_no_cause(tmp_path: Path) -> None:
    """2 of 20 ms: most models have one."""
    small = [{**one, "ms": ms} for one, ms in zip(KERNELS, (1, 1, 1, 17), strict=True)]

    assert "dense-gradient" not in slugs(diagnosed(tmp_path / "r", **{**tables(), **runs.window(small)}))


@pytest.mark.parametrize(("update_ms", "is_said"), [(4.0, True), (0.5, False)])
def test_an_operator_that_makes_rows_to_a_whole_before_an_update_tells(
    tmp_path: Path, update_ms: float, is_said: bool
) -> None:
    """8 of 20 ms; sums over groups of rows, as of graphs, are no gradient: hardly anything is updated then."""
    made = {"op": "UnsortedSegmentSum", "category": "reduction", "layer": None, "direction": "forward", "ms": 8}
    update = {"op": "AssignSubVariableOp", "category": "optimiser", "layer": None, "direction": "update"}
    window = runs.window([made, {**update, "ms": update_ms}])
    found = diagnosed(tmp_path / "r", on("tensorflow"), **{**quiet(), **window})

    stakes = [one.at_stake_ns for one in found.findings if one.slug == "dense-gradient"]
    assert stakes == ([pytest.approx(0.9 * 12 / 20 * 6 * S, rel=0.01)] if is_said else [])


@pytest.mark.parametrize(("between_ms", "told_ms"), [(4, 16), (1, 12)])
def test_operators_that_go_through_the_whole_on_the_way_to_the_update_are_part_of_it(
    tmp_path: Path, between_ms: int, told_ms: int
) -> None:
    """A rate for all rows, right behind the 8 ms that make them; what takes an eighth of these goes through less."""
    made = {"op": "UnsortedSegmentSum", "category": "reduction", "layer": None, "direction": "forward", "ms": 8}
    scaled = {"op": "Mul", "category": "elementwise", "layer": None, "direction": None, "ms": between_ms}
    update = {"op": "AssignSubVariableOp", "category": "optimiser", "layer": None, "direction": "update", "ms": 4}
    found = diagnosed(tmp_path / "r", on("tensorflow"), **{**quiet(), **runs.window([made, scaled, update])})

    assert pick(found, "dense-gradient").at_stake_ns == pytest.approx(0.9 * told_ms / 20 * 6 * S, rel=0.01)


def test_gradients_that_are_let_go_give_their_memory_back_there(tmp_path: Path) -> None:
    """`zero_grad` stands for a fifth of 6 s, all of the 1.2 s in which no kernel runs: nine tenths."""
    process = {**runs.manifest()["process"], "cpu_user_ns": 9 * S, "cpu_system_ns": 3 * S}
    counted = cpu((2.0, {**BEGIN, "faults_minor": 0}), (8.0, {**BUSY, "faults_minor": 1_500_000}))
    words = parameter("words", "50000x100", bytes=20_480_000)
    window = runs.window([*KERNELS[:3], {**KERNELS[3], "ms": 1}])
    stood = sampled(
        (2, 6.8, [("<module>", "train.py", 9)]),
        (6.8, 8, [("<module>", "train.py", 8), ("Optimizer.zero_grad", "torch/optim/optimizer.py", 1000)]),
    )
    owners = [words, parameter("dense", "100x10")]
    changed = {**tables(), **window, **counted, **stood, "memory_owners": owners}
    found = diagnosed(tmp_path / "r", {**on("torch"), "process": process}, **changed)

    assert pick(found, "dense-gradient").at_stake_ns / S == pytest.approx(3.78 + 1.08, rel=0.01)


def test_smaller_tables_are_updated_with_it(tmp_path: Path) -> None:
    """Tables of 4 and of 1 million numbers, each a fifth or more of all: the layer of the second looks up 2,560 rows, too."""
    changed = tables(40_000)
    second = {**changed["layers"][0], "layer": "products", "weights": ["10000x100"], "first": False}
    changed |= {
        "layers": [*changed["layers"], {**second, "output": "128x1x100"}],
        "memory_owners": [
            parameter("words", "40000x100"),
            parameter("products", "10000x100"),
            parameter("dense", "100x10"),
        ],
    }
    finding = pick(diagnosed(tmp_path / "r", **changed), "dense-gradient")

    assert "all rows of words (40,000 x 100) and of 1 smaller table and updates them" in finding.claim
    assert finding.at_stake_ns == pytest.approx(0.9 * 4.2 * S, rel=0.01)
