"""Waits for values of the device."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.rules import host_sync
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    BUSY,
    FIT,
    GPU,
    KERNELS,
    Planted,
    cpu,
    diagnosed,
    in_callbacks,
    on,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.analysis.findings.foreign import abstained, found
from tests.unit.runs import MS, S

_WAIT = [*FIT, ("on_batch_end", "train.py", 33), ("_value", "jax/_src/array.py", 5)]
"""A callback stands in JAX's own conversion to numpy."""


def planted() -> Planted:
    """A second of that, beside a GPU."""
    window = runs.window([{**KERNELS[0], "ms": 10, "device": 0}])
    spans = [runs.fit_span(training={"jit_compile": True})]
    return Planted({"spans": spans, **sampled((7, 8, _WAIT)), **window}, on("jax", asynchronous=True))


def test_waiting_for_values_of_the_device_is_named(tmp_path: Path) -> None:
    """A callback stands in JAX's own conversion to numpy: on a GPU all that does not overlap with kernels is lost."""
    diagnosis = planted().diagnosis(tmp_path)

    assert pick(diagnosis, "host-sync").at_stake_ns == 6 * S - 250 * 10 * MS
    assert (pick(diagnosis, "host-sync").file, pick(diagnosis, "host-sync").line) == ("train.py", 33)
    assert "slow-callback" not in slugs(diagnosis)


@pytest.mark.parametrize(("waits_s", "seconds"), [(0.4, 0.24), (1.2, 0.8)])
def test_of_callbacks_that_mostly_work_only_the_waits_are_lost(tmp_path: Path, waits_s: float, seconds: float) -> None:
    """A metric of 2 s waits for predictions for a fifth of it; another one mostly does. Meanwhile the device works."""
    tables = in_callbacks()
    score = [*FIT, ("on_epoch_end", "keras/callbacks.py", 81), ("score", "train.py", 33)]
    waits = [
        *FIT,
        ("on_epoch_end", "keras/callbacks.py", 81),
        ("score", "train.py", 24),
        ("asnumpy", "mxnet/ndarray.py", 9),
    ]
    tables |= sampled((6, 6 + waits_s, waits), (6 + waits_s, 8, score))
    finding = pick(diagnosed(tmp_path / "r", on("mxnet", asynchronous=True), **tables), "host-sync")

    assert finding.at_stake_ns == pytest.approx(seconds * S, rel=0.01)


def test_on_a_processor_starting_work_is_not_lost_by_waiting(tmp_path: Path) -> None:
    """The same stacks: the host's own work takes time from the kernels even where both go on at once."""
    tables = {**sampled((7, 8, _WAIT)), **runs.window([{**KERNELS[0], "ms": 10}])}
    diagnosis = diagnosed(tmp_path / "r", on("jax", asynchronous=True), **tables)

    assert "host-sync" not in slugs(diagnosis)


def test_fetching_logs_after_each_batch_is_waiting_for_the_device(tmp_path: Path) -> None:
    """Keras does that where a callback has a method for batches; in 0.8 s of the 2 s the device works meanwhile."""
    keras = "keras/src/callbacks/callback_list.py"
    tables = in_callbacks(("CallbackList._on_train_batch_end", keras, 1), ("pythonify_logs", "keras/src/utils.py", 2))
    diagnosis = diagnosed(tmp_path / "r", on("jax", asynchronous=True), **tables)

    assert pick(diagnosis, "host-sync").at_stake_ns == 1200 * MS


def own_loop(calls: int, seconds: float, **how: str) -> Planted:
    """A loop of the script's own, of 250 steps of 20 ms, that asks for its loss."""
    window = runs.window([{**KERNELS[0], "ms": 10, "device": 0}])
    times = {"start_ns": 2 * S, "end_ns": 7 * S, "dur_ns": round(seconds * S)}
    asked = {"what": "item()", "file": "train.py", "line": 21, "calls": calls, **times}
    told = {**on("torch", asynchronous=True), "syncs_of": ["torch"]}
    return Planted({"spans": [runs.fit_span(**how)], "syncs": [asked], **window}, told)


@pytest.mark.parametrize(("others", "room"), [(10.0, 1.0), (75.0, 0.5), (95.0, 0.1), (120.0, 0.0)])
def test_on_a_processor_kernels_go_on_beside_the_host_only_where_a_core_is_free(
    tmp_path: Path, others: float, room: float
) -> None:
    """As a loop on MXNet was recorded on two cores: it has one, and others nearly all of the second."""
    crowded = cpu((2.5, BEGIN), (7.5, BUSY), others=others, tree=100.0)
    case = Case(runs.trained(tmp_path / "r", on("mxnet", asynchronous=True), **quiet(**crowded)))

    assert host_sync._room(case) == pytest.approx(room)
    assert host_sync._room(Case(runs.trained(tmp_path / "gpu", **quiet(**runs.window(GPU), **crowded)))) == 1


def test_an_own_loop_that_asks_for_values_in_each_step_is_named(tmp_path: Path) -> None:
    """By the line, as counted: for as much as the device waited, and no longer than the line took."""
    diagnosis = own_loop(250, 2.0, how="inferred").diagnosis(tmp_path)

    finding = pick(diagnosis, "host-sync")
    assert "item() 1 times a step" in finding.claim
    assert (finding.file, finding.line) == ("train.py", 21)
    assert finding.at_stake_ns == pytest.approx(2 * S, abs=100)


@pytest.mark.parametrize(("calls", "seconds"), [(10, 2.0), (250, 0.1)])
def test_an_own_loop_that_asks_seldom_or_shortly_is_not(calls: int, seconds: float, tmp_path: Path) -> None:
    """At one step of 25; or for less than a twentieth of the training."""
    assert "host-sync" not in slugs(own_loop(calls, seconds, how="inferred").diagnosis(tmp_path))


@pytest.mark.parametrize(("calls", "is_told"), [(24, False), (25, True), (60, True)])
def test_what_is_asked_for_at_the_ends_of_short_epochs_is_not_in_the_loop(
    calls: int, is_told: bool, tmp_path: Path
) -> None:
    """Of 48 steps in six epochs; up to four values in each are sums of it. More may well be asked for in its steps."""
    planted = own_loop(calls, 2.0, how="inferred")
    steps = runs.steps(48, dur_ms=100)
    epochs = [{"loop_id": 1, "epoch": n, "start_ns": (2 + n) * S, "dur_ns": S, "steps": 8} for n in range(6)]
    told = Planted({**planted.tables, "steps": steps, "epochs": epochs}, planted.told)

    assert ("host-sync" in slugs(told.diagnosis(tmp_path))) is is_told


def test_lines_under_keras_are_not_taken_for_a_loop(tmp_path: Path) -> None:
    """What callbacks cost there is told from samples."""
    assert "host-sync" not in slugs(own_loop(250, 2.0).diagnosis(tmp_path))


def test_a_real_trace_of_copies_that_wait_shows_it() -> None:
    """Ten copies of pageable memory in aten::to, each with a cudaStreamSynchronize."""
    finding = found("hta_gp100_step_annotations.json.gz", "host-sync")

    assert finding is not None
    assert "The host waited 10 times" in finding.claim
    assert finding.at_stake_ns / 1e6 == pytest.approx(0.478, rel=0.01)


def test_a_real_trace_without_such_waits_does_not() -> None:
    """Its host launches ahead."""
    assert found("hta_rank0.json.gz", "host-sync") is None
    assert abstained("hta_rank0.json.gz", "host-sync") is None
