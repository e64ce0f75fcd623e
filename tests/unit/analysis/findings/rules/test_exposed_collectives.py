"""Collectives that nothing hides."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import GPU, Planted, pick, quiet
from tests.unit.analysis.findings.foreign import abstained, found
from tests.unit.runs import S


def planted() -> Planted:
    """6 of each 20 ms, after the kernels of the model."""
    reduce = {"op": "ncclAllReduce", "category": "collective", "kind": "kernel", "device": 0, "ms": 6}
    return Planted(quiet(**runs.window([*GPU, reduce])))


@pytest.mark.parametrize(
    ("name", "at_stake_ms", "words"),
    [
        ("hta_rank0.json.gz", 337.0, "15 % of that beside"),
        ("hta_rank1.json.gz", 303.5, "20 % of that beside"),
        pytest.param("kineto/hta_a100_rank3of8.json.gz", 87.9, "46 % of that beside", marks=pytest.mark.slow),
    ],
)
def test_real_traces_show_it(name: str, at_stake_ms: float, words: str) -> None:
    """The figures were checked by hand: docs/gpu-rules.md."""
    finding = found(name, "exposed-collectives")

    assert finding is not None
    assert finding.at_stake_ns / 1e6 == pytest.approx(at_stake_ms, rel=0.01)
    assert words in finding.claim


@pytest.mark.parametrize(
    "name",
    [
        "hta_gp100_step_annotations.json.gz",
        pytest.param("kineto/hta_a100_nccl_rank0of2.json.gz", marks=pytest.mark.slow),
    ],
)
def test_real_traces_do_not_show_it(name: str) -> None:
    """The same rule finds nothing there."""
    assert found(name, "exposed-collectives") is None


def test_without_a_device_it_cannot_tell() -> None:
    """A trace of the host has no such signal."""
    assert abstained("mxnet_gluon.json.gz", "exposed-collectives") == "no kernel ran on a GPU"


def test_a_run_of_its_own_shows_it(tmp_path: Path) -> None:
    """6 of each 20 ms of 6 s."""
    finding = pick(planted().diagnosis(tmp_path), "exposed-collectives")

    assert finding.at_stake_ns == pytest.approx(1.8 * S, rel=0.02)
