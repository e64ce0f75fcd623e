"""The readers, fuzzed for a quarter of a minute; `python -m tests.fuzz` does it for as long as one likes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.formats import registry
from tests.fuzz import __main__ as fuzz

pytestmark = pytest.mark.integration
SECONDS = 15


@pytest.mark.timeout(900)
def test_nothing_but_the_readers_error_comes_out(tmp_path: Path) -> None:
    """Of mutations of real traces, for every reader in turn, through import, reports and page."""
    readers = [reader.name for reader in registry.READERS]

    sums = fuzz.fuzz(readers, seed=1, seconds=SECONDS, inputs=None, jobs=1, save=tmp_path)

    assert sums.inputs > 0
    assert dict(sums.times) == {}, "\n".join(escape.trace for escape in sums.first.values())
