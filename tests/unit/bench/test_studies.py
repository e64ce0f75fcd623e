"""Scaling studies in the table of a benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.bench import matrix, measures, studies, tables
from dlprof.bench.results import CellResult
from tests.unit.bench.matrices import written

MATRIX = """
backends = ["native-torch"]
[[work]]
name = "w"
script = "a.py"
ranks = [1, 2, 4]
"""


def result(ranks: int, train_s: float, **changes: Any) -> CellResult:
    """A run of 10 steps."""
    values = {"wall_s": train_s + 1, "train_s": train_s, "train_input_s": 0.0, "train_wait_s": 0.0,
              "train_transfer_s": train_s - 8 / ranks, "train_contention_s": 0.0}  # fmt: skip
    given: dict[str, Any] = {
        "work": "w",
        "backend": "native-torch",
        "number": 1,
        "ranks": ranks,
        "node": "n",
        "measures": values,
    }
    return CellResult(**{**given, **changes})


RESULTS = [result(1, 8.0), result(2, 6.0), result(4, 5.0)]
FINDING = (
    "w on native-torch (n): 4 ranks do 1.60 times the work of 1 in the same time, an efficiency of 40 %. Of 3.00 s that "
    "are lost in each rank's 5.00 s of training, 3.00 s are collectives that all ranks had come to."
)


def test_rows_of_a_study_have_their_efficiency_and_where_the_rest_went(tmp_path: Path) -> None:
    """4 s are ideal for two ranks; the law and the next doubling are those of three points."""
    found = matrix.load(written(tmp_path, MATRIX))
    rows, told = measures.rows(RESULTS, 1), studies.of_results(RESULTS, found)

    content = json.loads(json.dumps(tables.as_json(found, rows, told)))

    assert [(row["ranks"], row["node"], row["efficiency"], row["lost_s"]) for row in content["rows"]] == [
        (1, "n", 1.0, 0.0),
        (2, "n", 8 / 12, 2.0),
        (4, "n", 0.4, 3.0),
    ]
    assert content["rows"][1]["lost"] == {"input": 0, "wait": 0, "transfer": 2.0, "contention": 0, "work": 0}
    (study,) = content["scaling"]
    assert (study["limited_by"], study["finding"]) == ("transfer", FINDING)
    assert study["law"]["worst_s"] < 1e-9
    assert (round(study["law"]["fixed_s"], 6), round(study["law"]["each_s"], 6)) == (4.0, 0.0)
    assert (study["next"]["ranks"], round(study["next"]["train_s"], 6)) == (8, 4.5)


def test_the_markdown_has_a_table_of_each_study(tmp_path: Path) -> None:
    """With its law, the next doubling and the finding."""
    told = studies.of_results(RESULTS, matrix.load(written(tmp_path, MATRIX)))
    text = tables.as_markdown(measures.rows(RESULTS, 1), told)
    assert "| work | backend | ranks | runs | whole process (s) |\n" in text
    assert (
        "| ranks | training (s) | speedup | efficiency | lost | input | wait | transfer | contention | work |\n" in text
    )
    assert "| 2 | 6 | 1.33 | 67 % | 2 | 0 | 0 | 2 | 0 | 0 |\n" in text
    assert "Amdahl's serial share 50.0 %" in text
    assert "8 ranks would do 1.11 times the work of 4 in the same time, with an efficiency of 22 %." in text
    assert text.endswith(f"scaling-limited: {FINDING}\n")


def test_the_csv_ends_with_ranks_machine_and_efficiency(tmp_path: Path) -> None:
    """Empty where there is no interval."""
    told = studies.of_results(RESULTS, matrix.load(written(tmp_path, MATRIX)))
    lines = tables.as_csv(measures.rows(RESULTS, 1), told).splitlines()
    assert lines[0].endswith(",ranks,node,efficiency,efficiency_low,efficiency_high,noisy")
    assert lines[3].endswith(",4,n,0.4,,,")


def test_runs_of_two_machines_are_rows_and_studies_of_their_own(tmp_path: Path) -> None:
    """A median of both would be of neither."""
    found = matrix.load(written(tmp_path, MATRIX))
    results = [*RESULTS, result(1, 9.0, node="m"), result(2, 9.0, node="m")]
    assert [(one.node, len(one.scaling.points)) for one in studies.of_results(results, found)] == [("m", 2), ("n", 3)]
    assert "| w | native-torch | 1 | m |" in tables.as_markdown(measures.rows(results, 1))


def test_runs_that_failed_are_in_no_study(tmp_path: Path) -> None:
    """One number of ranks alone is none."""
    found = matrix.load(written(tmp_path, MATRIX))
    assert studies.of_results([RESULTS[0], result(2, 6.0, error="exit code 1")], found) == []


def test_why_an_efficiency_is_not_known_is_said(tmp_path: Path) -> None:
    """No steps were seen, or nothing is there to compare with."""
    found = matrix.load(written(tmp_path, MATRIX))
    blind = [result(1, 8.0), result(2, 6.0, measures={"wall_s": 7.0})]
    text = tables.as_markdown(measures.rows(blind, 1), studies.of_results(blind, found))
    assert text.endswith(
        "Efficiency not measured:\n\n"
        "- w on native-torch with 1 rank: there is no other number of ranks to compare it with\n"
        "- w on native-torch with 2 ranks: no train steps were seen in all of its ranks (dlprof help own-loops)\n"
    )
