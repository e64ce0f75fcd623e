"""Copies between host and device."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import GPU, Planted, pick, quiet
from tests.unit.analysis.findings.foreign import abstained, found
from tests.unit.runs import S


def planted() -> Planted:
    """6 of each 20 ms."""
    return Planted(
        quiet(
            **runs.window(
                [*GPU, {"op": "Memcpy HtoD", "category": "transfer", "kind": "transfer", "device": 0, "ms": 6}]
            )
        )
    )


def test_copies_are_named_on_a_gpu(tmp_path: Path) -> None:
    """6 of each 20 ms."""
    finding = pick(planted().diagnosis(tmp_path), "transfer-bound")

    assert finding.at_stake_ns == pytest.approx(1.8 * S, rel=0.01)


@pytest.mark.slow
def test_a_real_trace_of_copies_shows_it() -> None:
    """Ten copies to the device and five back, 285 of 2,024 ms, with no kernel beside them."""
    finding = found("nsys_sqlite/pipit_saxpy_mpi_a100.sqlite", "transfer-bound")

    assert finding is not None
    assert finding.at_stake_ns / 1e6 == pytest.approx(284.7, rel=0.01)


def test_a_real_trace_with_hidden_copies_does_not() -> None:
    """A millisecond of copies in a second."""
    assert found("hta_rank0.json.gz", "transfer-bound") is None
    assert abstained("mxnet_gluon.json.gz", "transfer-bound") == "no kernel ran on a GPU"


def test_copies_within_a_device_are_none_between_it_and_the_host(tmp_path: Path) -> None:
    """6 of each 20 ms, all of them DtoD."""
    within = {"op": "Memcpy DtoD", "category": "transfer", "kind": "transfer", "device": 0, "ms": 6}

    diagnosis = Planted(quiet(**runs.window([*GPU, within]))).diagnosis(tmp_path)

    assert "transfer-bound" not in [finding.slug for finding in diagnosis.findings]
