"""What is done after a run is stored."""

from __future__ import annotations

import gzip
from pathlib import Path

from dlprof.launch.process import Outcome
from dlprof.pipeline import storing
from tests.unit.runs import trained

OUTCOME = Outcome(0, None, 0, 1, 0, 0, 0, {}, killed=False)


def test_artifacts_of_some_size_are_packed(tmp_path: Path) -> None:
    """Stacks and traces in JSON; other files stay as they are."""
    run = trained(tmp_path / "r")
    window = run.folder.raw / "kernels" / "window-000"
    window.mkdir(parents=True)
    (window / "trace.json").write_text("[1]")
    (window / "other.bin").write_bytes(b"x")

    storing.pack(storing.Traced(OUTCOME, run))

    assert sorted(file.name for file in window.iterdir()) == ["other.bin", "trace.json.gz"]
    assert gzip.decompress((window / "trace.json.gz").read_bytes()) == b"[1]"


def test_a_run_that_was_not_stored_keeps_its_artifacts_as_they_are() -> None:
    """There is nothing to pack that is known to be readable."""
    storing.pack(storing.Traced(OUTCOME, None))
