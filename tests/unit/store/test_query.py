"""SQL over the tables of a run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dlprof.errors import BadDataError, UsageError
from dlprof.store import query
from dlprof.store.run import Run
from tests.unit.runs import steps, trained, window


def test_sql_reads_every_table_and_nothing_else(tmp_path: Path) -> None:
    """Tables that were not written are there, empty; files of the machine are not."""
    run = trained(tmp_path / "r")
    longest = "SELECT phase FROM phases WHERE parent IS NULL ORDER BY dur_ns DESC LIMIT 1"

    assert query.ask(run, "SELECT count(*) FROM gpu").rows == [(0,)]
    assert query.ask(run, longest).rows == [("fit",)]
    with pytest.raises(UsageError, match="The query failed"):
        query.ask(run, "SELECT * FROM read_csv('/etc/passwd')")


def test_a_query_of_a_rule_sees_its_run_alone(tmp_path: Path) -> None:
    """Others are asked by the same database meanwhile; a view of all kernels is there, files of the machine are not."""
    kernel = {"op": "mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 2}
    a, b = trained(tmp_path / "a", **window([kernel])), trained(tmp_path / "b", steps=steps(3))

    assert [query.ask_own(run, "SELECT count(*) FROM steps").rows for run in (a, b, a)] == [[(250,)], [(3,)], [(250,)]]
    assert query.ask_own(a, "SELECT name, count(*) FROM kernels GROUP BY ALL").rows == [("mm", 10)]
    assert query.ask_own(b, "SELECT count(*) FROM kernels").rows == [(0,)]
    with pytest.raises(UsageError, match="The query failed"):
        query.ask_own(a, "SELECT * FROM read_csv('/etc/passwd')")
    with pytest.raises(UsageError, match="The query failed"):
        query.ask_own(a, "SELECT * FROM nothing")


def test_a_time_with_a_zone_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB asks for a module that may not be there, and says so by a traceback."""
    monkeypatch.setitem(sys.modules, "pytz", None)

    with pytest.raises(UsageError) as refused:
        query.ask(trained(tmp_path / "r"), "SELECT now()")
    assert refused.value.message == "The query failed: a column is a time with a time zone."


def test_a_large_table_is_asked_where_it_lies(tmp_path: Path) -> None:
    """As often as the query reads it; what it does not read is not read."""
    rows = [{"time_ns": 10 * n, "interval_ns": 10, "core": n % 2, "busy_pct": 50.0} for n in range(6000)]
    run = trained(tmp_path / "r", cores=rows)
    run = Run(run.folder, run.manifest)

    twice = "SELECT (SELECT count(*) FROM cores), (SELECT max(time_ns) FROM cores WHERE core = 1)"
    assert query.ask(run, twice).rows == [(6000, 59_990)]
    assert run._tables == {}


def test_a_large_table_that_is_damaged_is_told_before_it_is_asked(tmp_path: Path) -> None:
    """A moment is missing in one of its rows."""
    rows = [{"time_ns": 10 * n, "interval_ns": 10, "core": 0, "busy_pct": 50.0} for n in range(6000)]
    run = trained(tmp_path / "r", cores=[*rows, {"core": 0, "busy_pct": 50.0}])

    with pytest.raises(BadDataError, match="its column (time|interval)_ns lacks values"):
        query.ask(Run(run.folder, run.manifest), "SELECT count(*) FROM cores")


def test_a_name_that_a_query_makes_up_is_read_all_the_same(tmp_path: Path) -> None:
    """DuckDB has a function for that."""
    run = trained(tmp_path / "r", cores=[{"time_ns": 0, "interval_ns": 10, "core": 0, "busy_pct": 50.0}])

    assert query.ask(run, "SELECT count(*) FROM query_table('co' || 'res')").rows == [(1,)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1;",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "FROM phases",
        "DESCRIBE steps",
        "SUMMARIZE phases",
        "PRAGMA table_info('steps')",
        "EXPLAIN SELECT 1",
        "PIVOT phases ON phase USING sum(dur_ns)",
        "VALUES (1)",
    ],
)
def test_what_asks_is_answered(text: str, tmp_path: Path) -> None:
    """In whichever words."""
    assert query.ask(trained(tmp_path / "r"), text).rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("drop view steps", "DROP asks the tables nothing"),
        ("create table x as select 1", "CREATE asks the tables nothing"),
        ("delete from steps", "DELETE asks the tables nothing"),
        ("set threads = 1", "SET asks the tables nothing"),
        ("SELECT 1; SELECT 2", "2 queries were given"),
        (" -- nothing", "There is no query"),
    ],
)
def test_what_asks_nothing_is_refused(text: str, message: str, tmp_path: Path) -> None:
    """An answer of a count, or none, would sound as if the run had been changed."""
    run = trained(tmp_path / "r")
    for ask in (query.ask, query.arrow):
        with pytest.raises(UsageError, match=message):
            ask(run, text)
    with pytest.raises(UsageError, match=message):
        query.ask_within(run, text, rows=5, seconds=5)
