"""The table of a benchmark as Markdown, CSV and JSON."""

from __future__ import annotations

import json
from pathlib import Path

from dlprof.bench import matrix, measures, tables
from tests.unit.bench.matrices import GOOD, written

ROWS = [
    measures.Row("mlp", "jax", 3, (), {"wall_s": 12.3456, "samples_per_s": 12345.6}, {"wall_s": (12.0, 13.0)}),
    measures.Row("mlp", "mxnet", 0, ("exit code 1: boom",), {}, {}),
]


def test_the_markdown_has_a_line_for_each_pair_and_the_failures_below() -> None:
    """Measures that nobody has are left out."""
    assert tables.as_markdown(ROWS) == (
        "| work | backend | runs | whole process (s) | samples per second, steady |\n"
        "| --- | --- | ---: | ---: | ---: |\n"
        "| mlp | jax | 3 | 12.3 [12, 13] | 12,346 |\n"
        "| mlp | mxnet | 0 | - | - |\n"
        "\n"
        "Cells: the median of the runs [its 95 % interval; of five runs and fewer that is the least to the most].\n"
        "\n"
        "Failed:\n"
        "\n"
        "- mlp on mxnet: exit code 1: boom\n"
    )


def test_the_csv_has_every_measure_and_leaves_unknown_ones_empty() -> None:
    """With both ends of the interval."""
    lines = tables.as_csv(ROWS).splitlines()

    assert lines[0].startswith("work,backend,runs,failed,wall_s,wall_s_low,wall_s_high,construct_s")
    assert lines[1].startswith("mlp,jax,3,,12.3456,12.0,13.0,,,")
    assert lines[2].startswith("mlp,mxnet,0,exit code 1: boom,,,")


def test_the_json_says_null_where_nothing_was_measured(tmp_path: Path) -> None:
    """Never 0."""
    content = json.loads(json.dumps(tables.as_json(matrix.load(written(tmp_path, GOOD)), ROWS)))

    assert content["schema"] == "dlprof.bench/1"
    assert content["rows"][1]["median"]["wall_s"] is None
    assert content["rows"][0]["interval"]["wall_s"] == [12.0, 13.0]


def test_the_csv_names_noisy_measures_in_its_last_column() -> None:
    """Empty where there are none."""
    noisy = measures.Row("mlp", "torch", 3, (), {"wall_s": 7.0}, {}, noisy=("wall_s", "later_epochs_s"))

    lines = tables.as_csv([noisy, *ROWS]).splitlines()

    assert [line.rpartition(",")[2] for line in lines[:3]] == ["noisy", "wall_s; later_epochs_s", ""]


def test_a_noisy_cell_is_marked_and_the_mark_is_explained() -> None:
    """Only that cell; and what to do."""
    row = measures.Row("mlp", "torch", 3, (), {"wall_s": 7.0, "later_epochs_s": 1.18}, {}, noisy=("later_epochs_s",))

    text = tables.as_markdown([row])
    assert "| mlp | torch | 3 | 7 | 1.18 (!) |" in text
    assert "Cells: the median of the runs.\n" in text
    assert "(!) noisy: the runs differ by more than 50 % of the median. More runs (--repeat N) " in text


def test_noise_is_not_spoken_of_where_no_cell_is_noisy() -> None:
    """The mark is not explained then."""
    assert "noisy" not in tables.as_markdown(ROWS)


def test_the_json_names_noisy_measures(tmp_path: Path) -> None:
    """By their names; none where none is."""
    row = measures.Row("mlp", "torch", 3, (), {"wall_s": 7.0}, {}, noisy=("wall_s",))

    content = tables.as_json(matrix.load(written(tmp_path, GOOD)), [row, *ROWS])
    assert [one["noisy"] for one in content["rows"]] == [["wall_s"], [], []]
