"""Sums of allocations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import heap

PROCESS = ProcessId("host", 0, 42, 1_000)
PLACE = {
    "user": ["/s/train.py", 7, "step"], "at": ["/s/train.py", 7, "step"], "peak_bytes": 900, "peak_count": 2,
    "held": [0, 900], "places": 1,
}  # fmt: skip
SUMS = {"format": "dlprof.heap/1", "memray": "1.20.0", "peak_bytes": 900, "moments_wall_ns": [5_000, 6_000]}


def written(folder: Path, **changes: Any) -> Path:
    """The file, with changes."""
    path = folder / "heap.json"
    path.write_text(json.dumps({**SUMS, "places": [PLACE], **changes}))
    return path


def test_places_and_what_they_held_are_rows_on_the_run_s_timeline(tmp_path: Path) -> None:
    """Files by their names in the tables."""
    nobody = {**PLACE, "user": None, "at": None}
    found = heap.tables(
        heap.read(written(tmp_path, places=[PLACE, nobody])), PROCESS, FileNames("/s"), to_run_ns=-4_000
    )

    places = found["heap"].to_pylist()
    assert [(one["place"], one["file"], one["line"], one["function"]) for one in places] == [
        (0, "train.py", 7, "step"),
        (1, None, None, None),
    ]
    assert (places[0]["peak_bytes"], places[0]["peak_count"], places[0]["pid"]) == (900, 2, 42)
    held = [(row["place"], row["time_ns"], row["bytes"]) for row in found["heap_held"].to_pylist()]
    assert held == [(0, 1_000, 0), (0, 2_000, 900), (1, 1_000, 0), (1, 2_000, 900)]


def test_why_there_are_no_sums_is_read(tmp_path: Path) -> None:
    """In their place."""
    path = tmp_path / "heap.json"
    path.write_text('{"failed": "MemoryError"}')

    assert heap.read(path).failed == "MemoryError"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"format": "dlprof.heap/9"}',
        json.dumps({**SUMS, "places": [{**PLACE, "held": [1]}]}),
        json.dumps({**SUMS, "places": [{**PLACE, "peak_bytes": "many"}]}),
    ],
)
def test_damaged_sums_are_refused(content: str, tmp_path: Path) -> None:
    """With the file's name."""
    path = tmp_path / "heap.json"
    path.write_text(content)

    with pytest.raises(ArtifactError, match=r"heap\.json"):
        heap.read(path)
