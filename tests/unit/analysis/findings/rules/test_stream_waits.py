"""Work that was launched waits for other streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import GPU, Planted, pick, quiet
from tests.unit.analysis.findings.foreign import abstained, found
from tests.unit.runs import MS, S


def planted() -> Planted:
    """Work that was launched is held up for 12 of each 20 ms."""
    gap = {
        "device": 0,
        "dur_ns": 12 * MS,
        "host_ns": 0,
        "launch_ns": 0,
        "wait_ns": 12 * MS,
        "window": 0,
        "kernel": "mm",
    }
    gaps = [{**gap, "blamed": None, "start_ns": 3 * S + n * 20 * MS + 8 * MS} for n in range(10)]
    waiting = {"op": "cudaStreamWaitEvent", "category": "other", "kind": "runtime", "ms": 0.001}
    return Planted(quiet(**runs.window([*GPU, waiting]), gpu_gaps=gaps))


@pytest.mark.parametrize(
    ("name", "at_stake_ms", "words"),
    [
        ("tracelens_mi300x_sglang_decode.json.gz", 463.3, "463 ms of 474 ms"),
    ],
)
def test_real_traces_show_it(name: str, at_stake_ms: float, words: str) -> None:
    """The figures were checked by hand: docs/gpu-rules.md."""
    finding = found(name, "stream-waits")

    assert finding is not None
    assert finding.at_stake_ns / 1e6 == pytest.approx(at_stake_ms, rel=0.01)
    assert words in finding.claim


@pytest.mark.parametrize(
    "name",
    [
        "hta_gp100_step_annotations.json.gz",
        "hta_a100_alexnet.json.gz",
    ],
)
def test_real_traces_do_not_show_it(name: str) -> None:
    """The same rule finds nothing there."""
    assert found(name, "stream-waits") is None


def test_without_a_device_it_cannot_tell() -> None:
    """A trace of the host has no such signal."""
    assert abstained("mxnet_gluon.json.gz", "stream-waits") == "no kernel ran on a GPU"


def test_a_run_of_its_own_shows_it(tmp_path: Path) -> None:
    """12 of each 20 ms of 6 s."""
    finding = pick(planted().diagnosis(tmp_path), "stream-waits")

    assert finding.at_stake_ns == pytest.approx(3.6 * S, rel=0.02)


def test_without_a_call_that_makes_a_stream_wait_it_cannot_tell() -> None:
    """392 of 1,223 ms are such gaps, but nothing says what work was held up by."""
    assert "no call that makes a stream wait was recorded" in (abstained("hta_rank0.json.gz", "stream-waits") or "")
