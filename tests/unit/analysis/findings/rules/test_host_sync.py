"""Waits for values of the device."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, KERNELS, Planted, diagnosed, in_callbacks, on, pick, sampled, slugs
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
