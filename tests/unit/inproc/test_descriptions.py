"""What is told of models and data: once, of the first loops."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from dlprof_probes.inproc import facts
from dlprof_probes.inproc.one_hot import OneHot
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Clock, Recorded


def test_data_of_a_loop_are_described_once(probe: Probe, out: Recorded) -> None:
    """Those of its first batch."""
    loop = SimpleNamespace(data_seen=False, one_hot=OneHot(), span=out.begin("fit", "fit"))

    probe.descriptions.data(loop, ["no array"])
    probe.descriptions.data(loop, ["no array", "another"])

    assert next(iter(out.stream().spans.values())).detail == {"data": [None]}


def test_batches_that_are_one_hot_are_told_of_a_loop(probe: Probe, out: Recorded) -> None:
    """As its loader makes them; nothing is looked at where no loop runs."""
    loop = SimpleNamespace(one_hot=OneHot(), span=out.begin("fit", "fit"))

    probe.descriptions.batch_made(None, np.eye(64, dtype="float32"))
    probe.descriptions.batch_made(loop, (np.eye(64, dtype="float32"), np.zeros(64)))

    assert next(iter(out.stream().spans.values())).detail == {"one_hot": [64]}


def test_means_of_data_are_told_of_the_first_loops(probe: Probe, out: Recorded) -> None:
    """A comparison asks for those; reading rows in each of thousands of calls would take time."""
    loops = [
        SimpleNamespace(data_seen=False, one_hot=OneHot(), span=out.begin("predict", "predict")) for _ in range(66)
    ]
    for loop in loops:
        probe.descriptions.data(loop, [np.ones((2, 3), "float32")])

    told = [span.detail["data"] for span in out.stream().spans.values()]
    assert told[:64] == [[{"shape": [2, 3], "dtype": "float32", "mean": 1.0}]] * 64
    assert told[64:] == [[{"shape": [2, 3], "dtype": "float32"}]] * 2


def test_what_the_facts_of_a_training_take_is_no_time_of_a_line(
    probe: Probe, out: Recorded, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading settings of an engine may take long on a busy machine: 135 ms were counted for the line of `fit`."""
    own: list[int] = []
    out.on_own = own.append

    def of_training(*_: object) -> dict[str, object]:
        now.ns += 5_000_000
        return {"loss": "mse"}

    monkeypatch.setattr(facts, "of_training", of_training)
    probe.descriptions.training(out.begin("fit", "fit"), object())

    assert own == [5_000_000]
