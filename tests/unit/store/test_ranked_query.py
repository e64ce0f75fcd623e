"""SQL over all ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.errors import UsageError
from dlprof.store import ranked_query
from tests.unit import ranked_runs, runs


def test_each_table_has_the_rows_of_all_ranks(tmp_path: Path) -> None:
    """With the rank, also where the table of one run has no such column."""
    found = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_1={"probes": [{"name": "lines", "state": "off"}]})
    counts = ranked_query.ask(found, "SELECT rank, host, count(*) FROM steps GROUP BY ALL ORDER BY rank")
    assert counts.rows == [(0, "h", 40), (1, "h", 40)]
    assert ranked_query.ask(found, "SELECT rank, name FROM probes").rows == [(1, "lines")]


def test_operators_of_a_rank_keep_their_names(tmp_path: Path) -> None:
    """Each rank numbers its own: number 0 is another one in each."""
    windows: dict[str, Any] = {
        f"rank_{rank}": runs.window([{"op": op, "ms": 1}], count=3) for rank, op in enumerate(("matmul", "conv"))
    }
    found = ranked_runs.make(tmp_path, {0: 5, 1: 12}, **windows)
    answer = ranked_query.ask(found, "SELECT rank, op, count(*) FROM kernels GROUP BY ALL ORDER BY rank")
    assert answer.rows == [(0, "matmul", 3), (1, "conv", 3)]


def test_a_query_that_fails_says_why(tmp_path: Path) -> None:
    """In DuckDB's words; no file can be read."""
    found = ranked_runs.make(tmp_path, {0: 5, 1: 12})
    for query in ("SELECT nothing FROM steps", "SELECT * FROM read_csv('/etc/passwd')"):
        with pytest.raises(UsageError, match="The query failed"):
            ranked_query.ask(found, query)


def test_a_query_that_asks_nothing_is_refused(tmp_path: Path) -> None:
    """As of one run."""
    found = ranked_runs.make(tmp_path, {0: 5, 1: 12})
    with pytest.raises(UsageError, match="DROP asks the tables nothing"):
        ranked_query.ask(found, "DROP VIEW steps")


def test_a_query_that_nobody_has_looked_at_has_bounds(tmp_path: Path) -> None:
    """Of rows, of time, and of what it may set."""
    found = ranked_runs.make(tmp_path, {0: 5, 1: 12})
    answer, has_more = ranked_query.ask_within(found, "SELECT rank FROM steps ORDER BY rank", rows=2, seconds=20)
    assert (answer.rows, has_more) == ([(0,), (0,)], True)
    with pytest.raises(UsageError, match="took more than"):
        ranked_query.ask_within(found, "SELECT count(*) FROM range(100000000000)", rows=2, seconds=0.05)


def test_an_answer_is_a_table_too(tmp_path: Path) -> None:
    """With whole numbers as such."""
    found = ranked_runs.make(tmp_path, {0: 5, 1: 12})
    assert ranked_query.arrow(found, "SELECT sum(rank) AS s FROM steps").to_pydict() == {"s": [40]}
