"""What tools answer."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dlprof.assistant import answers
from dlprof.errors import NoInputError, UsageError
from tests.unit import ranked_runs
from tests.unit.export.run_of_everything import whole
from tests.unit.runs import trained, window

KERNELS = [
    {"op": "MatMul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 8},
    {"op": "Relu", "category": "activation", "layer": "relu", "direction": "forward", "ms": 2},
]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs `old`, and `last`, which has kernels; and one with names that are out to do harm."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("old", "new")):
        made = trained(tmp_path / "dlprof_runs" / name, **window(KERNELS))
        os.utime(made.folder.manifest_path, (4e9 + number, 4e9 + number))
    whole(tmp_path / "hostile")
    return tmp_path


def test_runs_are_listed_newest_first(runs: Path) -> None:
    """So many, and how many there are."""
    found = answers.runs(None, 1)

    assert (found["folder"], found["of"]) == ("dlprof_runs", 2)
    assert [one["run"] for one in found["runs"]] == ["new"]
    assert found["repeats"] == []
    with pytest.raises(NoInputError, match="There is no folder none"):
        answers.runs("none", 1)


def test_repeats_are_listed_as_folders(runs: Path) -> None:
    """Their runs are asked for by their folder, and named by what other tools take."""
    trained(runs / "dlprof_runs" / "many" / "001")

    assert answers.runs(None, 9)["repeats"] == [{"folder": "dlprof_runs/many", "runs": 1}]
    (one,) = answers.runs("dlprof_runs/many", 9)["runs"]
    assert answers.report(one["run"], ["wall_ns"]) == {"wall_ns": 10_000_000_000}


def test_where_no_runs_are_a_folder_that_has_some_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the call that lists them; and where runs were found nothing is."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        trained(tmp_path / "kept" / name)

    assert answers.runs(None, 9)["hint"] == (
        "kept/ holds 2: call runs with folder='kept'; other tools take a run of it as run='kept/NAME'."
    )
    assert answers.runs("kept", 9)["hint"] is None


def test_where_no_folder_has_runs_it_is_said_how_to_name_or_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was started elsewhere than the user works sees none of theirs."""
    monkeypatch.chdir(tmp_path)

    assert answers.runs(None, 9)["hint"] == (
        f"No folder below {tmp_path} holds runs. If they lie elsewhere, call runs with folder= and an absolute path; "
        "else make one: dlprof trace SCRIPT."
    )


def test_a_report_has_the_parts_that_are_asked_for(runs: Path) -> None:
    """Those of most interest, else."""
    assert list(answers.report("last", None)) == list(answers.PARTS)
    assert answers.report("last", ["wall_ns", "script"]) == {"wall_ns": 10_000_000_000, "script": "train.py"}
    with pytest.raises(UsageError, match="A report has no part speed"):
        answers.report("last", ["speed"])


def test_findings_have_few_rows_of_evidence(runs: Path) -> None:
    """Of one run, and of a pair."""
    found = answers.findings("last", None)

    assert found["runs"] == ["new"]
    assert all(len(one["rows"]) <= 5 for finding in found["findings"] for one in finding["evidence"])
    assert answers.findings("last", "old")["comparable"] is True


def test_lines_with_most_time_come_first(runs: Path) -> None:
    """With the text of each; those without time are left out."""
    found = answers.lines("hostile", 5)

    assert [(one["line"], one["time_ns"], one["source"]) for one in found["lines"]] == [
        (4, 12_345_678_901, "    fit()")
    ]
    assert found["of"] == 1


def test_kernels_are_summed(runs: Path) -> None:
    """By what is asked for."""
    found = answers.kernels("last", "layer", 1)

    assert [(one["layer"], one["total_ns"]) for one in found["rows"]] == [("dense", 80_000_000)]
    assert found["of"] == 2
    with pytest.raises(UsageError, match="Kernels cannot be summed by colour"):
        answers.kernels("last", "colour", 1)


def test_sql_gives_so_many_rows(runs: Path) -> None:
    """And says whether there are more; moments and the like are texts."""
    found = answers.sql("last", "SELECT step, DATE '2026-11-23', NULL, 'NaN'::DOUBLE FROM steps ORDER BY step", 2)

    assert found["rows"] == [[0, "2026-11-23", None, None], [1, "2026-11-23", None, None]]
    assert (found["columns"][0], found["has_more"]) == ("step", True)
    with pytest.raises(UsageError, match="The query failed"):
        answers.sql("last", "SELECT * FROM read_csv('/etc/passwd')", 2)


def test_a_comparison_has_what_differs_most_first(runs: Path) -> None:
    """Without the load of each core."""
    found = answers.compare("dlprof_runs/old", "last", 3)

    assert found["gap_ns"] == 0
    assert "cores" not in found["a"]


def test_tables_have_columns_with_types(runs: Path) -> None:
    """One that is not there is refused."""
    assert answers.table("epochs")["columns"]["dur_ns"] == "int64"
    assert "phases" in answers.tables()
    with pytest.raises(NoInputError, match="There is no table kernel"):
        answers.table("kernel")


def test_answers_on_a_run_that_is_out_to_do_harm_are_plain_json(runs: Path) -> None:
    """Every tool."""
    told = [
        answers.report("hostile", None),
        answers.findings("hostile", None),
        answers.lines("hostile", 9),
        answers.kernels("hostile", "kernel", 9),
        answers.sql("hostile", "SELECT * FROM spans", 9),
        answers.compare("hostile", "hostile", 9),
    ]

    assert all(json.loads(json.dumps(one, allow_nan=False)) == one for one in told)


def test_layers_that_one_side_lacks_are_compared_too(runs: Path) -> None:
    """By the time of the other one; those that differ most come first."""
    trained(runs / "dlprof_runs" / "other", **window([KERNELS[1], {**KERNELS[0], "layer": "head", "ms": 1}]))

    found = answers.compare("dlprof_runs/old", "dlprof_runs/other", 2)

    assert [(one["layer"], one["a_ns"], one["b_ns"]) for one in found["layers"]] == [
        ("dense", 2_000_000_000, None),
        ("head", None, 250_000_000),
    ]


@pytest.fixture
def ranks(tmp_path: Path) -> str:
    """A run of two ranks, one of which the other waits for."""
    ranked_runs.make(tmp_path / "ddp", {0: 5, 1: 12})
    return str(tmp_path / "ddp")


def test_ranks_together_have_a_report(ranks: str) -> None:
    """Or parts of it; of the parts of one run's a rank is asked."""
    found = answers.report(ranks, None)

    assert (found["schema"], [one["rank"] for one in found["ranks"]]) == ("dlprof.ranks/1", [0, 1])
    assert answers.report(ranks, ["world", "missing"]) == {"world": 2, "missing": []}
    with pytest.raises(UsageError, match="A report of ranks has no part phases") as told:
        answers.report(ranks, ["phases"])
    assert str(told.value.hint).endswith(f"call report with run='{ranks}/rank-001'")
    assert answers.report(f"{ranks}/rank-001", ["phases"])["phases"]


def test_ranks_together_have_findings_and_each_has_its_own(ranks: str) -> None:
    """Those of a rank are asked of that rank."""
    found = answers.findings(ranks, None)

    assert [one["slug"] for one in found["findings"]] == ["straggler"]
    assert found["hint"] == f"What a rank loses by itself: call findings with run='{ranks}/rank-001'."


def test_tables_of_all_ranks_are_asked_at_once(ranks: str) -> None:
    """Within bounds."""
    found = answers.sql(ranks, "SELECT rank, count(*) AS n FROM steps GROUP BY rank ORDER BY rank", 1)

    assert (found["columns"], found["rows"], found["has_more"]) == (["rank", "n"], [[0, 40]], True)


def test_two_runs_of_ranks_are_compared_rank_by_rank(ranks: str, tmp_path: Path) -> None:
    """As the command does."""
    ranked_runs.make(tmp_path / "even", {0: 5, 1: 5})

    found = answers.compare(ranks, str(tmp_path / "even"), 5)

    assert (found["schema"], found["a"]["ranks"], found["b"]["straggler"]) == ("dlprof.compare-ranks/1", 2, None)


def test_a_tool_of_one_run_names_a_rank(ranks: str) -> None:
    """Lines and kernels are those of a rank."""
    for ask in (lambda: answers.lines(ranks, 5), lambda: answers.kernels(ranks, "op", 5)):
        with pytest.raises(UsageError, match="holds the ranks of one training"):
            ask()
