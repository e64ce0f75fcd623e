"""`dlprof sql`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.schema.tables import TABLES
from tests.unit import ranked_runs
from tests.unit.runs import dlprof, trained

QUERY = "SELECT phase, count, NULL AS nothing FROM phases WHERE parent IS NULL ORDER BY phase LIMIT 2"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A stored run."""
    return trained(tmp_path / "r").folder.path


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", "phase,count,nothing\r\nfit,1,\r\nimport,1,\r\n"),
        ("markdown", "| phase | count | nothing |\n| --- | --- | --- |\n| fit | 1 |  |\n| import | 1 |  |\n"),
    ],
)
def test_answers_are_written_in_the_format_asked_for(
    run: Path, form: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Null is empty."""
    assert dlprof("sql", run, QUERY, "--format", form) == 0

    assert capsys.readouterr().out == text


def test_json_is_a_list_of_rows(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Null is null."""
    assert dlprof("sql", run, QUERY, "--format", "json") == 0

    assert json.loads(capsys.readouterr().out)[0] == {"phase": "fit", "count": 1, "nothing": None}


def test_a_table_on_a_terminal_is_no_markup(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Brackets are text, control characters are replaced."""
    assert dlprof("sql", run, "SELECT '[red]' || chr(27) AS a, 1 AS b") == 0

    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "a       b",
        "[red]\N{REPLACEMENT CHARACTER}  1",
    ]


LONG = "SELECT list('layer_' || i ORDER BY i) AS names, repeat('a', 90) || repeat('z', 90) AS path FROM range(40) t(i)"


def test_wide_cells_of_a_table_are_shortened_and_said_to_be(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a list the first items and how many there are, of a text its ends."""
    assert dlprof("sql", run, LONG) == 0

    names = "['layer_0', 'layer_1', 'layer_2', 'layer_3', 'layer_4', 'layer_5', 'layer_6', 'layer_7', 'layer_8', …] (40 items)"
    assert [line.split("  ") for line in capsys.readouterr().out.splitlines()[1:]] == [
        [names, f"{'a' * 60}…{'z' * 59}"],
        ["2 cells are shortened, to 120 characters at most: --format csv or json has them whole"],
    ]


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
def test_wide_cells_of_other_formats_are_whole(run: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing stands below them."""
    assert dlprof("sql", run, LONG, "--format", form) == 0

    out = capsys.readouterr().out
    assert ("layer_39" in out or "layer\\_39" in out, "a" * 90 + "z" * 90 in out, "shortened" in out) == (
        True,
        True,
        False,
    )


def test_a_list_whose_first_item_is_too_wide_is_a_text(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its ends are told."""
    assert dlprof("sql", run, "SELECT [repeat('a', 300)] AS names") == 0

    assert capsys.readouterr().out.splitlines()[1:] == [
        f"['{'a' * 58}…{'a' * 57}']",
        "1 cell is shortened, to 120 characters at most: --format csv or json has them whole",
    ]


def test_without_a_query_the_tables_are_listed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With their rows and columns."""
    assert dlprof("sql", run, "--json") == 0

    listed = {row["table"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(listed) == list(TABLES)
    assert (listed["steps"]["rows"], listed["probes"]["columns"]) == (
        250,
        "name, state, reason, cost_ns, cost_source, tax_ns, thinned, thinned_from_value, thinned_to_value, thinned_why",
    )


def test_a_query_that_makes_no_sense_is_a_wrong_command_line(run: Path) -> None:
    """Exit code 64."""
    assert dlprof("sql", run, "SELEKT 1") == 64


def test_tables_of_ranks_are_listed_with_the_rows_of_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has the column by which they are told apart."""
    ranked_runs.make(tmp_path / "ddp", {0: 5, 1: 12})
    assert dlprof("sql", tmp_path / "ddp", "--format", "json") == 0
    listed = {one["table"]: one for one in json.loads(capsys.readouterr().out)}
    assert listed["steps"]["rows"] == 80
    assert all(one["columns"].startswith("host, rank, ") for one in listed.values())


def test_the_query_may_stand_before_the_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only one of the two can be a query."""
    assert dlprof("sql", " select count(*) AS n FROM steps", run, "--format", "csv") == 0

    assert capsys.readouterr().out == "n\r\n250\r\n"


def test_of_a_query_before_a_run_that_is_not_there_the_run_is_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not a run with the query's text for a name."""
    assert dlprof("sql", "WITH a AS (SELECT 1) SELECT * FROM a", tmp_path / "none") == 66

    assert "There is no run " in capsys.readouterr().err
