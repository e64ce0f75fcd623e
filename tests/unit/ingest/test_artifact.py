"""Whose rows are, and what is wrong with a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.artifact import ArtifactError, ProcessId

PROCESS = ProcessId("here", 0, 42, 5)


@pytest.mark.parametrize(
    ("facts", "columns"),
    [
        ({}, ("here", 0)),
        ({"rank": 3, "host": "there"}, ("there", 3)),
        ({"rank": -1, "host": None}, ("here", 0)),
        ({"rank": "3"}, ("here", 0)),
        ({"rank": 1 << 15}, ("here", 0)),
        ({"rank": True}, ("here", 0)),
    ],
)
def test_a_trace_may_know_better_whose_it_is(facts: dict[str, Any], columns: tuple[str, int]) -> None:
    """As far as it says what a table can hold."""
    told = PROCESS.as_told(facts)

    assert (told.host, told.rank) == columns
    assert told.columns == {"host": columns[0], "rank": columns[1], "pid": 42}


def test_an_error_names_the_file_and_the_byte() -> None:
    """Where the byte is known."""
    assert ArtifactError("cut", path=Path("/a/t.json"), offset=7).message == "t.json at byte 7: cut"
    assert ArtifactError("cut", path=Path("/a/t.json")).message == "t.json: cut"
