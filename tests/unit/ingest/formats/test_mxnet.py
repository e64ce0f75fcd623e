"""Traces of MXNet."""

from __future__ import annotations

from pathlib import Path

from tests.unit.ingest.imports import DATA, imported, of_kind


def test_operators_of_mxnet_are_counted_once(tmp_path: Path) -> None:
    """The file tells each twice, as a pair on a thread and as an asynchronous one."""
    run = imported(tmp_path, DATA / "mxnet_gluon.json.gz")

    assert of_kind(run, "operator") == (510, 171050.0)
