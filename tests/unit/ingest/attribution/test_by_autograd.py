"""Attribution of PyTorch: annotations, autograd, launches."""

from __future__ import annotations

from dlprof.ingest.kernels.events import CPU
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import labelled, make_trace


def test_backward_operators_of_torch_find_their_layer_by_sequence_number() -> None:
    """And the kernels by what launched them; gradients are added up for the layer before."""
    trace = make_trace([
        (EventKind.ANNOTATION, "dlprof:layer:dense_1", 0, 100, CPU, 0, -1),
        (EventKind.OPERATOR, "aten::linear", 10, 50, CPU, 0, 7),
        (EventKind.OPERATOR, "aten::addmm", 20, 30, CPU, 0, 7),
        (EventKind.RUNTIME, "cudaLaunchKernel", 25, 5, CPU, 0, 1),
        (EventKind.KERNEL, "sgemm", 60, 20, 0, 2, 1),
        (EventKind.OPERATOR, "autograd::engine::evaluate_function: AddmmBackward0", 200, 40, CPU, 1, 7),
        (EventKind.OPERATOR, "aten::mm", 210, 20, CPU, 1, -1),
        (EventKind.RUNTIME, "cudaLaunchKernel", 215, 5, CPU, 1, 2),
        (EventKind.KERNEL, "sgemm_t", 230, 20, 0, 2, 2),
        (EventKind.OPERATOR, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 250, 10, CPU, 1, -1),
        (EventKind.ANNOTATION, "dlprof:optimizer:rmsprop", 300, 50, CPU, 0, -1),
        (EventKind.OPERATOR, "aten::mul_", 310, 10, CPU, 0, -1),
    ], "autograd")  # fmt: skip

    found = {name: rest for name, *rest in labelled(trace)}

    assert found["aten::addmm"] == [("dense_1", "forward"), "aten::addmm"]
    assert found["sgemm"] == [("dense_1", "forward"), "aten::addmm"]
    assert found["aten::mm"] == [("dense_1", "backward"), "aten::mm"]
    assert found["sgemm_t"] == [("dense_1", "backward"), "aten::mm"]
    assert found["autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"][0] == ("dense_1", "backward")
    assert found["aten::mul_"] == [("rm_sprop", "update"), "aten::mul_"]
