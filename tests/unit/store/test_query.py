"""SQL over the tables of a run."""

from __future__ import annotations

import sys
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


def test_a_time_with_a_zone_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB asks for a module that may not be there, and says so by a traceback."""
    monkeypatch.setitem(sys.modules, "pytz", None)

    with pytest.raises(UsageError) as refused:
        query.ask(trained(tmp_path / "r"), "SELECT now()")
    assert refused.value.message == "The query failed: a column is a time with a time zone."
