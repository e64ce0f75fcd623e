"""`dlprof report`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.cli import report
from tests.unit import ranked_runs
from tests.unit.published import problems
from tests.unit.runs import S, dlprof, trained


def test_report_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says where it is."""
    trained(tmp_path / "r")
    assert dlprof("report", tmp_path / "r", "--html", tmp_path / "new" / "page.html") == 0
    assert capsys.readouterr().out == f"{tmp_path}/new/page.html\n"
    assert (tmp_path / "new" / "page.html").read_text().startswith("<!doctype html>")


def test_a_page_is_written_over_a_page_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of the user's stays as it is."""
    trained(tmp_path / "r")
    target = tmp_path / "page.html"
    assert dlprof("report", tmp_path / "r", "--html", target) == 0
    assert dlprof("report", tmp_path / "r", "--html", target) == 0
    target.write_text("my notes")
    assert dlprof("report", tmp_path / "r", "--html", target) == 64
    assert "is no page of dlprof" in capsys.readouterr().err
    assert target.read_text() == "my notes"


def test_report_prints_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing else is asked for."""
    trained(tmp_path / "r")

    assert dlprof("report", tmp_path / "r", "--plain") == 0
    assert "fit 6.00 s (60.0 %)" in capsys.readouterr().out


def test_report_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With as many lines as asked for."""
    rows = [
        {"file": "a.py", "function": "f", "first_line": 1, "line": n, "hits": 1, "time_ns": n * S, "source": "x"}
        for n in (1, 2, 3)
    ]
    trained(tmp_path / "r", lines=rows)

    assert dlprof("report", tmp_path / "r", "--json", "--top", "2") == 0

    content = json.loads(capsys.readouterr().out)
    assert (content["schema"], [line["line"] for line in content["lines"]]) == ("dlprof.report/1", [3, 2])
    assert content["verdict"].startswith("The 10.0 s went to fit")
    assert [finding["slug"] for finding in content["findings"]] == ["slow-callback"]


def test_a_run_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Exit code 66."""
    assert dlprof("report", tmp_path / "none") == 66


def test_sections_are_printed_by_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One below the other."""
    trained(tmp_path / "r")

    assert dlprof("report", tmp_path / "r", "health", "phases") == 0
    content = capsys.readouterr().out
    assert content.index("Health") < content.index("Phases")
    assert "Overhead ledger" not in content


def test_all_of_the_report_is_printed_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what measuring cost."""
    trained(tmp_path / "r")

    assert dlprof("report", tmp_path / "r", "--full") == 0
    assert "Overhead ledger" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ("last", [])),
        (["last"], ("last", [])),
        (["kernels", "lines"], ("last", ["kernels", "lines"])),
        (["r", "kernels"], ("r", ["kernels"])),
        (["nothing-like-it"], ("nothing-like-it", [])),
    ],
)
def test_a_section_may_stand_where_no_run_is_named(
    words: list[str], expected: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is then one of the last run."""
    monkeypatch.chdir(tmp_path)
    run, sections = report.asked(words)

    assert (run, list(sections)) == expected


def test_a_run_that_has_the_name_of_a_section_is_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there counts."""
    trained(tmp_path / "kernels")
    monkeypatch.chdir(tmp_path)

    assert report.asked(["kernels"]) == ("kernels", [])


@pytest.mark.parametrize(
    ("words", "hint"), [(["last", "kernles"], "did you mean kernels?"), (["kernles"], "did you mean kernels?")]
)
def test_a_section_that_there_is_not_is_refused(
    words: list[str], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the nearest one."""
    monkeypatch.chdir(tmp_path)

    assert dlprof("report", *words) == 64
    assert hint in capsys.readouterr().err


def test_ranks_of_a_training_have_a_report_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As text and as JSON; a section is of one run."""
    ranked_runs.make(tmp_path / "ddp", {0: 5, 1: 12})

    assert dlprof("report", tmp_path / "ddp") == 0
    assert "Straggler  rank 1: 7.00 ms a step more than the others" in capsys.readouterr().out
    assert dlprof("report", tmp_path / "ddp", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert problems("ranks", told) == []
    assert (told["schema"], told["straggler"]["rank"], len(told["ranks"])) == ("dlprof.ranks/1", 1, 2)
    assert dlprof("report", tmp_path / "ddp", "phases") == 64
    assert "name a rank" in capsys.readouterr().err
