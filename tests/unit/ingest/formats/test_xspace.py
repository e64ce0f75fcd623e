"""Traces of the profilers of TensorFlow and JAX."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import kernels
from dlprof.ingest.parse import xplane
from dlprof.store import query
from tests.unit.ingest.imports import DATA, imported, of_kind


def test_an_xspace_of_jax_is_read_exactly(tmp_path: Path) -> None:
    """54 kernels on one of eight GPUs, with operator and program."""
    run = imported(tmp_path, DATA / "tracelens_jax_gemm_mi300x.xplane.pb")

    assert of_kind(run, "kernel") == (54, 3475.484)
    by_op = {
        (row.keys["op"], row.keys["device"]): row.count for row in kernels.summarise(run, "op", kinds=("kernel",)).rows
    }
    assert by_op["dot_general", "gpu:0"] == 18
    assert query.ask(run, "SELECT max(delay_ns) > 0 FROM kernels WHERE kind = 'kernel'").rows == [(True,)]


@pytest.mark.slow
def test_an_xspace_read_in_small_pieces_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events that a piece would cut wait for the next one."""
    path = DATA / "tracelens_jax_gemm_mi300x.xplane.pb"
    whole = imported(tmp_path / "a", path)
    monkeypatch.setattr(xplane, "PIECE_BYTES", 300)
    pieces = imported(tmp_path / "b", path)

    assert pieces.table("kernel_events").to_pylist() == whole.table("kernel_events").to_pylist()
