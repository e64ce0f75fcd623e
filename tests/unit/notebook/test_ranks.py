"""The ranks of one training in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import dlprof
from dlprof.errors import NoInputError, UsageError
from dlprof.schema.tables import TABLES
from tests.unit import ranked_runs, runs


@pytest.fixture
def ddp(tmp_path: Path) -> dlprof.RanksView:
    """Two ranks with steps of 20 ms, one of which the other waits for."""
    ranked_runs.make(tmp_path / "ddp", {0: 5, 1: 12})
    return dlprof.open_ranks(tmp_path / "ddp")


def test_one_run_is_not_all_ranks(tmp_path: Path, ddp: dlprof.RanksView) -> None:
    """What opens all of them is told with the call, and what opens one."""
    with pytest.raises(UsageError, match="holds the ranks of one training") as told:
        dlprof.open(ddp.path)

    assert told.value.hint == f"dlprof.open_ranks('{ddp.path}'), or one of them: dlprof.open('{ddp.path}/rank-000')"


def test_what_holds_no_ranks_is_told(tmp_path: Path) -> None:
    """With what opens it."""
    runs.trained(tmp_path / "r")

    with pytest.raises(UsageError, match="r holds no ranks") as told:
        dlprof.open_ranks(tmp_path / "r")
    assert told.value.hint == f"dlprof.open('{tmp_path / 'r'}')"


def test_each_rank_is_a_row_and_a_run(ddp: dlprof.RanksView) -> None:
    """By its number; times in the unit that is asked for."""
    frame = ddp.ranks(unit="ms")

    assert frame["median_ms"].to_dict() == {0: 20.0, 1: 20.0}
    assert frame["run"].to_dict() == {0: "rank-000", 1: "rank-001"}
    assert (ddp.rank(1).name, ddp.rank(1).unit) == ("rank-001", "ns")
    with pytest.raises(NoInputError, match="ddp has no run of rank 7") as told:
        ddp.rank(7)
    assert told.value.hint == "there are: 0, 1"


def test_what_ranks_lose_to_each_other_is_found(ddp: dlprof.RanksView) -> None:
    """As `dlprof diagnose` has it."""
    assert [one.slug for one in ddp.diagnose().findings] == ["straggler"]
    assert ddp.findings()["slug"].to_dict() == {1: "straggler"}


def test_tables_of_all_ranks_are_asked(ddp: dlprof.RanksView) -> None:
    """Each has a column `rank`; all are known by name."""
    counts = ddp.sql("SELECT rank, count(*) AS n FROM steps GROUP BY rank ORDER BY rank")

    assert counts.to_dict("list") == {"rank": [0, 1], "n": [40, 40]}
    assert set(ddp.sql("SHOW TABLES")["name"]) == {*TABLES, "kernels"}
    with pytest.raises(UsageError, match="A query is a text"):
        ddp.sql(3)  # type: ignore[arg-type]


def test_ranks_are_shown_as_their_report(ddp: dlprof.RanksView) -> None:
    """As text, and as JSON has it."""
    assert repr(ddp) == "<dlprof run ddp of 2 ranks>"
    assert str(ddp).startswith("train.py  2 ranks on h, 10.0 s\n")
    assert (ddp.summary["schema"], ddp.summary["world"]) == ("dlprof.ranks/1", 2)
