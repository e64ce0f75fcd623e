"""The table `syncs`."""

from __future__ import annotations

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own.syncs import Sync, table


def test_a_place_is_a_row_on_the_timeline() -> None:
    """Times begin with the run, files are named shortly."""
    place = Sync("item()", "/s/train.py", 7, 3, 600, 1_100, 1_900)

    (row,) = table([place], ProcessId("host", 0, 42, 1_000), FileNames("/s")).to_pylist()

    assert row == {
        "host": "host", "rank": 0, "pid": 42, "what": "item()", "file": "train.py", "line": 7, "calls": 3,
        "dur_ns": 600, "start_ns": 100, "end_ns": 900,
    }  # fmt: skip
