"""Categories of operators and kernels."""

from __future__ import annotations

import pytest

from dlprof.ingest.attribution.categories import category


@pytest.mark.parametrize(
    ("op", "found"),
    [
        ("_MklMatMul", "matmul"), ("dot_general", "matmul"), ("aten::addmm", "matmul"), ("FullyConnected", "matmul"),
        ("volta_sgemm_32x128_nn", "matmul"), ("CGemv{inplace}", "matmul"), ("aten::miopen_convolution", "conv"),
        ("_MklNativeConv2DBackpropFilterWithBias", "conv"), ("convert_element_type", "data movement"),
        ("aten::native_batch_norm_backward", "normalisation"), ("aten::_softmax", "reduction"), ("Sum", "reduction"),
        ("rmsprop_update", "optimiser"), ("ResourceApplyAdam", "optimiser"), ("StatelessRandomUniformV2", "random"),
        ("Dropout", "random"), ("_backward_broadcast_add", "elementwise"), ("ReluGrad", "elementwise"),
        ("aten::copy_", "data movement"), ("[CUDA memcpy HtoD]", "transfer"), ("aten::embedding", "embedding"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float", "collective"), ("CudnnRNNV3", "recurrent"), ("zzz", "other"),
        ("cudnn::detail::dgrad_engine", "conv"), ("wgrad_alg0_engine", "conv"), ("BiasAddGrad", "elementwise"),
    ],
)  # fmt: skip
def test_operators_of_all_engines_have_a_category(op: str, found: str) -> None:
    """By their names."""
    assert category(op) == found
