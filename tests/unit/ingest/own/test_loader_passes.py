"""Passes over loaders, as the stream tells them."""

from __future__ import annotations

import json

import msgspec
import pytest

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import loader_passes

TOLD = {
    "loader": 1, "thread": 5, "kind": "DataLoader", "begin_ns": 1000, "opened_ns": 1004, "end_ns": 2000,
    "waited_ns": 70, "items": 3, "file": "/home/me/train.py", "line": 7, "workers": 2,
}  # fmt: skip


def test_a_pass_is_a_row(tmp_path: object) -> None:
    """On the run's timeline, with the short name of its file; what was not told is null."""
    one = loader_passes.parse(json.dumps(TOLD).encode())
    (row,) = loader_passes.table([one], ProcessId("h", 0, 42, 900), FileNames("/home/me")).to_pylist()

    assert (row["start_ns"], row["open_ns"], row["dur_ns"], row["item_count"]) == (100, 4, 1000, 3)
    assert (row["file"], row["line"], row["workers"], row["queue"]) == ("train.py", 7, 2, None)


@pytest.mark.parametrize("odd", [{"loader": "x"}, {"items": -1}, {"end_ns": 1}, {"workers": 1 << 40}])
def test_a_pass_that_makes_no_sense_is_refused(odd: dict[str, object]) -> None:
    """Whatever it is."""
    with pytest.raises((ValueError, msgspec.ValidationError)):
        loader_passes.parse(json.dumps({**TOLD, **odd}).encode())
