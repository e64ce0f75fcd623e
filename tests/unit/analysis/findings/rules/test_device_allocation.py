"""Memory of the device is allocated or freed while it is idle."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import GPU, Planted, pick, quiet
from tests.unit.analysis.findings.foreign import abstained, found
from tests.unit.runs import MS, S


def planted() -> Planted:
    """The host frees memory for 12 of each 20 ms."""
    gap = {
        "device": 0,
        "dur_ns": 12 * MS,
        "host_ns": 12 * MS,
        "launch_ns": 0,
        "wait_ns": 0,
        "window": 0,
        "kernel": "mm",
    }
    gaps = [{**gap, "blamed": "cudaFree", "start_ns": 3 * S + n * 20 * MS + 8 * MS} for n in range(10)]
    free = {"op": "cudaFree", "category": "other", "kind": "runtime", "ms": 12}
    return Planted(quiet(**runs.window([*GPU, free]), gpu_gaps=gaps))


@pytest.mark.parametrize(
    ("name", "at_stake_ms", "words"),
    [
        ("hta_a100_alexnet.json.gz", 8480.5, "cudaFree 6.53 s, cudaMalloc 1.95 s"),
        pytest.param("kineto/tracelens_mi300x_ddp_resnet18.json.gz", 3005.7, "hipFree 3.00 s", marks=pytest.mark.slow),
    ],
)
def test_real_traces_show_it(name: str, at_stake_ms: float, words: str) -> None:
    """The figures were checked by hand: docs/gpu-rules.md."""
    finding = found(name, "device-allocation")

    assert finding is not None
    assert finding.at_stake_ns / 1e6 == pytest.approx(at_stake_ms, rel=0.01)
    assert words in finding.claim


@pytest.mark.parametrize(
    "name",
    [
        "hta_rank0.json.gz",
        "hta_gp100_step_annotations.json.gz",
    ],
)
def test_real_traces_do_not_show_it(name: str) -> None:
    """The same rule finds nothing there."""
    assert found(name, "device-allocation") is None


def test_without_a_device_it_cannot_tell() -> None:
    """A trace of the host has no such signal."""
    assert abstained("mxnet_gluon.json.gz", "device-allocation") == "no kernel ran on a GPU"


def test_a_run_of_its_own_shows_it(tmp_path: Path) -> None:
    """12 of each 20 ms of 6 s."""
    finding = pick(planted().diagnosis(tmp_path), "device-allocation")

    assert finding.at_stake_ns == pytest.approx(3.6 * S, rel=0.02)
