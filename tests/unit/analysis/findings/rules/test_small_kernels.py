"""Kernels so small that the device waits for launches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, pick, quiet
from tests.unit.analysis.findings.foreign import abstained, found
from tests.unit.runs import MS, S


def planted() -> Planted:
    """Kernels of 20 us, and 20 gaps of 200 us in each step of 20 ms."""
    small = {"op": "add", "category": "elementwise", "kind": "kernel", "device": 0, "ms": 0.02}
    gap = {
        "device": 0,
        "dur_ns": MS // 5,
        "host_ns": MS // 5,
        "launch_ns": 0,
        "wait_ns": 0,
        "window": 0,
        "kernel": "add",
    }
    gaps = [{**gap, "blamed": "aten::add", "start_ns": 3 * S + n * MS} for n in range(200)]
    return Planted(quiet(**runs.window([small] * 5), gpu_gaps=gaps))


@pytest.mark.parametrize(
    ("name", "at_stake_ms", "words"),
    [
        ("hta_gp100_step_annotations.json.gz", 5.28, "130 kernels take 2.00 µs"),
        ("tracelens_jax_gemm_mi300x.xplane.pb", 3.75, "54 kernels take 5.80 µs"),
        pytest.param(
            "kineto/hta_a100_nccl_rank0of2.json.gz", 126.8, "2,700 kernels take 16.3 µs", marks=pytest.mark.slow
        ),
    ],
)
def test_real_traces_show_it(name: str, at_stake_ms: float, words: str) -> None:
    """The figures were checked by hand: docs/gpu-rules.md."""
    finding = found(name, "small-kernels")

    assert finding is not None
    assert finding.at_stake_ns / 1e6 == pytest.approx(at_stake_ms, rel=0.01)
    assert words in finding.claim


@pytest.mark.parametrize(
    "name",
    [
        "hta_rank0.json.gz",
        "tracelens_mi300x_sglang_decode.json.gz",
        pytest.param("kineto/kineto_resnet50_nw0_v100.pt.trace.json.gz", marks=pytest.mark.slow),
    ],
)
def test_real_traces_do_not_show_it(name: str) -> None:
    """The same rule finds nothing there."""
    assert found(name, "small-kernels") is None


def test_without_a_device_it_cannot_tell() -> None:
    """A trace of the host has no such signal."""
    assert abstained("mxnet_gluon.json.gz", "small-kernels") == "no kernel ran on a GPU"


def test_a_run_of_its_own_shows_it(tmp_path: Path) -> None:
    """Four fifths of 4 of each 20 ms of 6 s."""
    finding = pick(planted().diagnosis(tmp_path), "small-kernels")

    assert finding.at_stake_ns == pytest.approx(0.96 * S, rel=0.02)
