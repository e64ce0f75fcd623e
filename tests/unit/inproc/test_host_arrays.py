"""Arrays of engines as arrays of NumPy."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
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


def of_mxnet(device: str, storage: str) -> Any:
    """Stands for an array on a device, stored in some way, whose numbers are 1 and 2."""
    made = type("NDArray", (), {"__module__": "mxnet.ndarray.ndarray"})()
    made.context, made.stype = SimpleNamespace(device_type=device), storage
    made.to_dlpack_for_read = np.array([1.0, 2.0]).__dlpack__
    return made


def test_an_array_of_mxnet_is_seen_where_its_numbers_are() -> None:
    """Its DLPack is handed to NumPy as that asks for it."""
    view = host_arrays.view_of(of_mxnet("cpu", "default"))

    assert view is not None
    assert view.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("device", "storage"), [("gpu", "default"), ("cpu", "csr")])
def test_an_array_of_mxnet_elsewhere_or_stored_in_parts_is_left_alone(device: str, storage: str) -> None:
    """A copy would be made of it."""
    assert host_arrays.view_of(of_mxnet(device, storage)) is None


def test_arrays_that_are_waited_for_are_asked_for_by_name() -> None:
    """Whoever looks at each batch must not wait."""
    array = of_mxnet("cpu", "default")

    assert (host_arrays.may_be(array), host_arrays.may_be(array, waits=True)) == (False, True)


def test_a_tensor_of_tensorflow_on_a_device_is_left_there() -> None:
    """Its memory would be a copy."""
    made = type("EagerTensor", (), {"__module__": "tensorflow.python", "device": "/job:localhost/device:GPU:0"})()

    assert host_arrays.view_of(made) is None


def test_an_array_of_a_mapped_file_is_one_of_that_file(tmp_path: Path) -> None:
    """Also as a view that says nothing of it."""
    mapped = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(4, 4))

    assert host_arrays.is_of_file(np.asarray(mapped)[1:])
    assert not host_arrays.is_of_file(np.zeros((4, 4))[1:])


def test_others_give_their_memory() -> None:
    """As those of TensorFlow and JAX do."""
    view = host_arrays.view_of(bytearray(b"\x01\x02"))

    assert view is not None
    assert view.tolist() == [1, 2]
