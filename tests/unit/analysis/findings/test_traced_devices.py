"""What the rules may know of devices."""

from __future__ import annotations

import pytest
from msgspec import structs

from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.findings.traced_devices import TracedDevices
from dlprof.schema.manifest import Gpu, Manifest
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import RunState, StepPart
from dlprof.store.run import Run
from tests.unit.analysis.rows import event, in_memory, op
from tests.unit.runs import table

DISPATCH, IDLE = Tree.FIT_STEPS / StepPart.DISPATCH, Tree.FIT_STEPS / StepPart.IDLE
TREE = Breakdown({DISPATCH: 600, IDLE: 200, Tree.IMPORT: 900}, 2000, 300, Tree.FIT_STEPS, None, ())


def run(state: str = RunState.FINISHED, devices: int = 1) -> Run:
    """Each device has one kernel of 100 ns."""
    told = structs.replace(Manifest(), state=state, gpus=(Gpu(gpu=0, name="A100"),))
    return in_memory(
        told,
        kernel_ops=table("kernel_ops", [op(0, "kernel", "k")]),
        kernel_events=table("kernel_events", [event(0, 0, 100, device) for device in range(devices)]),
    )


def test_time_of_kernel_windows_is_scaled_to_the_steps() -> None:
    """A tenth of the traced time is a tenth of 800 ns, shared by the leaves."""
    devices = TracedDevices(run(), TREE)

    assert devices.takes(TREE.leaves, 10, [DISPATCH, IDLE]) == {DISPATCH: 60, IDLE: 20}


def test_time_of_a_foreign_trace_is_what_it_shows_as_a_mean_over_devices() -> None:
    """80 ns of two devices together are 40 of the trace."""
    devices = TracedDevices(run(RunState.IMPORTED, devices=2), TREE)

    assert devices.takes(TREE.leaves, 80, [DISPATCH, IDLE]) == {DISPATCH: 30, IDLE: 10}


def test_no_more_is_taken_than_is_there() -> None:
    """Whatever the devices' time is."""
    devices = TracedDevices(run(RunState.IMPORTED), TREE)

    assert devices.takes(TREE.leaves, 10_000, [DISPATCH]) == {DISPATCH: 600}


def test_a_device_has_its_name_where_that_is_known() -> None:
    """Else its number alone."""
    devices = TracedDevices(run(), TREE)

    assert (devices.name(0), devices.name(1)) == ("GPU 0 (A100)", "GPU 1")


def test_rules_abstain_without_a_device_and_without_steps() -> None:
    """And say which is missing."""
    with pytest.raises(Abstain, match="no kernel ran on a GPU"):
        TracedDevices(in_memory(), TREE).need_devices()
    unsplit = Breakdown({}, 1, 0, Tree.FIT_STEPS, "no window", ())
    with pytest.raises(Abstain, match="the steps are not split: no window"):
        TracedDevices(run(), unsplit).need_devices()
