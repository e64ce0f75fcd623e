"""Calls of torch's modules while gradients are off."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.engines import torch_growing
from dlprof_probes.inproc.engines.torch_growing import CallsWithoutGradients
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


class Module:
    """As torch's; it gives what it is given."""

    def __call__(self, rows: Any) -> Any:
        return rows

    def modules(self) -> Any:
        """It has no parts."""
        return [self]


PLAIN = vars(Module)["__call__"]


@pytest.fixture
def calls(probe: Probe) -> CallsWithoutGradients:
    """Of that class, without gradients."""
    torch: Any = SimpleNamespace(nn=SimpleNamespace(Module=Module), is_grad_enabled=lambda: False)
    return CallsWithoutGradients(probe, torch)


def is_plain() -> bool:
    """Whether the class has its own method."""
    return vars(Module)["__call__"] is PLAIN


def test_modules_are_looked_at_until_weights_are_updated(
    calls: CallsWithoutGradients, probe: Probe, out: Recorded
) -> None:
    """A text of 30 words in between."""
    calls.gradients_off()
    model = Module()
    for length in range(1, 31):
        model(np.zeros((1, length)))
    calls.updated()
    probe.growing.finish()

    assert is_plain()
    assert [name for kind, name in out.names() if kind == "growing_input"] == ["Module"]


def test_lines_that_showed_nothing_are_passed_over(calls: CallsWithoutGradients) -> None:
    """After four times; now and then they are looked at again."""
    looked = []
    for _ in range(300):
        calls.gradients_off()
        looked.append(calls.is_on)
        calls.updated()

    assert [number for number, on in enumerate(looked) if on] == [0, 1, 2, 3, 256]


def test_a_graph_that_is_compiled_ends_it(calls: CallsWithoutGradients) -> None:
    """The compiler finds the method as torch has it."""
    calls.gradients_off()
    calls.over()
    calls.gradients_off()

    assert is_plain()


def test_the_end_of_the_probe_takes_it_back(calls: CallsWithoutGradients, probe: Probe) -> None:
    """In a process that goes on."""
    calls.gradients_off()
    assert not is_plain()

    probe.end()

    assert is_plain()


def test_what_torch_kept_of_it_meanwhile_is_put_right(
    calls: CallsWithoutGradients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of torch that is loaded while gradients are off keeps the method as it finds it."""
    calls.gradients_off()
    part = SimpleNamespace(_orig_module_call=Module.__call__)
    monkeypatch.setitem(sys.modules, "torch.fx._symbolic_trace", part)

    calls.updated()

    assert part._orig_module_call is PLAIN


def test_time_is_first_where_a_part_says_that_the_batch_is_not() -> None:
    """Recurrent layers and attention do; others say nothing."""
    part = SimpleNamespace(batch_first=False)

    assert torch_growing.is_time_first(SimpleNamespace(modules=lambda: [object(), part]))
    assert not torch_growing.is_time_first(SimpleNamespace(modules=lambda: [object()]))


def test_a_part_of_a_tensor_is_told_by_where_that_lies_and_what_was_written() -> None:
    """A tensor of its own tells nothing, nor one of `inference_mode`, which counts no writes."""
    base = SimpleNamespace(data_ptr=lambda: 64, shape=(2, 9), _version=3)

    assert torch_growing.mark_of(SimpleNamespace(_base=base, is_inference=lambda: False)) == (64, (2, 9), 3)
    assert torch_growing.mark_of(SimpleNamespace(_base=base, is_inference=lambda: True)) is None
    assert torch_growing.mark_of(SimpleNamespace(_base=None)) is None
