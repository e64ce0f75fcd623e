"""Products and convolutions without tensor cores."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, pick, quiet
from tests.unit.analysis.findings.foreign import abstained, found
from tests.unit.runs import S


def planted() -> Planted:
    """Products of 32-bit floats in 8 of each 20 ms, by a kernel whose name is of a GPU with tensor cores."""
    sgemm = {"op": "volta_sgemm_128x64_nn", "category": "matmul", "kind": "kernel", "device": 0, "ms": 8}
    return Planted(quiet(**runs.window([sgemm])))


@pytest.mark.parametrize(
    ("name", "at_stake_ms", "words"),
    [
        pytest.param(
            "kineto/kineto_resnet50_nw0_v100.pt.trace.json.gz",
            196.7,
            "67 % of the kernels' time (393 ms)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_real_traces_show_it(name: str, at_stake_ms: float, words: str) -> None:
    """The figures were checked by hand: docs/gpu-rules.md."""
    finding = found(name, "tensor-cores-unused")

    assert finding is not None
    assert finding.at_stake_ns / 1e6 == pytest.approx(at_stake_ms, rel=0.01)
    assert words in finding.claim


@pytest.mark.parametrize(
    "name",
    [
        "hta_rank0.json.gz",
        pytest.param("kineto/hta_a100_rank3of8.json.gz", marks=pytest.mark.slow),
    ],
)
def test_real_traces_do_not_show_it(name: str) -> None:
    """The same rule finds nothing there."""
    assert found(name, "tensor-cores-unused") is None


def test_without_a_device_it_cannot_tell() -> None:
    """A trace of the host has no such signal."""
    assert abstained("mxnet_gluon.json.gz", "tensor-cores-unused") == "no kernel ran on a GPU"


def test_a_run_of_its_own_shows_it(tmp_path: Path) -> None:
    """Half of 8 of each 20 ms of 6 s."""
    finding = pick(planted().diagnosis(tmp_path), "tensor-cores-unused")

    assert finding.at_stake_ns == pytest.approx(1.2 * S, rel=0.02)


def test_on_a_gpu_without_tensor_cores_it_cannot_tell() -> None:
    """A Quadro GP100 is of the generation before."""
    because = abstained("hta_gp100_step_annotations.json.gz", "tensor-cores-unused")

    assert because == "whether Quadro GP100 has tensor cores, and which kernels use them, is not known"
