"""What dlprof has Theano's profiler keep over a whole run."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import registry, theano_sums
from tests.unit.ingest.formats.samples import put, trace_of

TEXT = '{"functions": [{"name": "train", "operators": {"Dot22": [6, 0.5], "Sum": [2, 0.25]}}]}'


def test_calls_and_seconds_of_each_operator_are_read(tmp_path: Path) -> None:
    """As sums: the profiler keeps no times."""
    trace = trace_of(theano_sums.read(put(tmp_path, TEXT)))

    assert [(row.name, row.count, row.total_ns) for row in trace.sums or ()] == [
        ("Dot22", 6, 500_000_000),
        ("Sum", 2, 250_000_000),
    ]


def test_the_file_is_known_by_its_content(tmp_path: Path) -> None:
    """So that it can be imported alone."""
    assert registry.find(put(tmp_path, TEXT)).name == "theano"


@pytest.mark.parametrize("text", ["", "{", '{"functions": 3}', '{"functions": [{"operators": {"Dot22": [6]}}]}'])
def test_a_damaged_file_is_one_error(text: str, tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(ArtifactError, match="file: damaged"):
        theano_sums.read(put(tmp_path, text))
