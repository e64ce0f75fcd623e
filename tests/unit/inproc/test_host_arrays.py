"""Arrays of engines as arrays of NumPy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from dlprof_probes.inproc import host_arrays


def of_torch(device: str) -> Any:
    """Stands for a tensor on a device, whose numbers are 1 and 2."""
    made = type("Tensor", (), {"__module__": "torch"})()
    made.device = SimpleNamespace(type=device)
    made.detach = lambda: np.array([1.0, 2.0])
    return made


def test_an_array_of_numpy_is_itself() -> None:
    """No copy."""
    array = np.zeros(3)

    assert host_arrays.view_of(array) is array


def test_a_tensor_in_the_host_s_memory_is_seen_without_its_graph() -> None:
    """By DLPack."""
    view = host_arrays.view_of(of_torch("cpu"))

    assert view is not None
    assert view.tolist() == [1.0, 2.0]


def test_a_tensor_on_a_device_is_left_there() -> None:
    """A copy would wait for it."""
    assert host_arrays.view_of(of_torch("cuda")) is None


def test_others_give_their_memory() -> None:
    """As those of TensorFlow and JAX do."""
    view = host_arrays.view_of(bytearray(b"\x01\x02"))

    assert view is not None
    assert view.tolist() == [1, 2]
