"""Traces of many ranks are read by processes of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.errors import UsageError
from dlprof.pipeline import importing_here, importing_ranks, ranked
from dlprof.pipeline.importing_here import Here
from tests.unit.pipeline.test_importing_ranks import silent, written


def test_no_process_at_a_time_makes_no_sense() -> None:
    """It is said before anything is read."""
    with pytest.raises(UsageError, match="--jobs must be at least 1"):
        Here(0)


@pytest.mark.slow
def test_several_processes_make_what_one_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row for row, also where new processes take over after some files."""
    monkeypatch.setattr(importing_here, "_FILES_OF_A_PROCESS", 1)
    folder = written(tmp_path / "in", *(f"{number}.json" for number in range(5)))
    tables = []
    for jobs in (1, 2):
        out = tmp_path / f"out{jobs}"
        made = importing_ranks.import_folder(folder, out, reader=None, report=silent, by=Here(jobs))
        assert sorted(made.ranks) == [0, 1, 2, 3, 4]
        found = ranked.find(str(out))
        assert found is not None
        tables.append([member.run.table("kernel_events").to_pylist() for member in found.members])
    assert tables[0] == tables[1]
    assert all(tables[0])
