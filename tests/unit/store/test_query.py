"""SQL over the tables of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.errors import UsageError
from dlprof.store import query
from tests.unit.runs import trained


def test_sql_reads_every_table_and_nothing_else(tmp_path: Path) -> None:
    """Tables that were not written are there, empty; files of the machine are not."""
    run = trained(tmp_path / "r")
    longest = "SELECT phase FROM phases WHERE parent IS NULL ORDER BY dur_ns DESC LIMIT 1"

    assert query.ask(run, "SELECT count(*) FROM gpu").rows == [(0,)]
    assert query.ask(run, longest).rows == [("fit",)]
    with pytest.raises(UsageError, match="The query failed"):
        query.ask(run, "SELECT * FROM read_csv('/etc/passwd')")
