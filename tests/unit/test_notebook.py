"""Runs as pandas frames, HTML and plots, over synthetic runs."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dlprof
from dlprof.errors import NoInputError, UnavailableError, UsageError
from dlprof.notebook import html
from dlprof.notebook.frames import ComparisonView, RunView
from dlprof.report import summary
from tests.unit import runs
from tests.unit.runs import MS, S

HOSTILE = "<script>alert('x')</script>\"&\x1b[31m\x00$x_1$é" + "y" * 10_000


@pytest.fixture
def trained(tmp_path: Path) -> RunView:
    """A run of 10 s with 5 s of steps."""
    runs.trained(tmp_path / "a")
    return dlprof.open(tmp_path / "a")


# -- opening -----------------------------------------------------------------------------------------


def test_importing_dlprof_loads_nothing_that_only_notebooks_use() -> None:
    """`dlprof --help` stays as fast as it was."""
    code = "import sys, dlprof; print([m for m in ('pandas', 'IPython', 'matplotlib', 'pyarrow', 'duckdb') if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_a_star_import_leaves_pythons_own_open_alone() -> None:
    """Though completion offers `dlprof.open`."""
    assert "open" not in dlprof.__all__
    assert {"open", "compare"} <= set(dir(dlprof))


def test_a_run_is_opened_by_its_name_and_by_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the commands take it."""
    runs.trained(tmp_path / "dlprof_runs" / "one")
    monkeypatch.chdir(tmp_path)

    assert dlprof.open("one").name == dlprof.open("last").name == dlprof.open().name == "one"


def test_a_run_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    """With dlprof's own error."""
    with pytest.raises(NoInputError, match=r"There is no run .*nothing\."):
        dlprof.open(tmp_path / "nothing")


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="module 'dlprof' has no attribute 'opne'"):
        _ = dlprof.opne


def test_without_pandas_a_frame_says_what_to_install(trained: RunView, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, with the command."""
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(UnavailableError, match=r"pandas is not installed\.") as caught:
        trained.phases()

    assert caught.value.hint == "pip install 'dlprof[notebook]'"


# -- frames ------------------------------------------------------------------------------------------


def test_phases_are_indexed_by_name_and_keep_whole_nanoseconds(trained: RunView) -> None:
    """Values as in the table."""
    frame = trained.phases()

    assert list(frame.columns) == ["parent", "dur_ns", "count"]
    assert frame.loc["fit.steps"].to_dict() == {"parent": "fit", "dur_ns": 5 * S, "count": 1}
    assert str(frame["dur_ns"].dtype) == "int64[pyarrow]"
    assert frame["dur_ns"][frame["parent"].isna()].sum() == trained.wall_ns == 10 * S
    assert trained.wall_s == 10.0


def test_what_was_not_measured_is_na_and_a_loss_of_nan_is_nan(tmp_path: Path) -> None:
    """Two things that pandas is apt to confuse."""
    runs.trained(tmp_path / "a", metrics=runs.losses(float("nan"), 0.5))
    frame = dlprof.open(tmp_path / "a").metrics()

    assert frame["step"].isna().all()
    assert frame["value"].isna().tolist() == [False, False]
    assert math.isnan(frame["value"][0])
    assert frame["value"][1] == 0.5


def test_steps_leave_out_what_is_the_same_in_all_rows_and_tables_keep_it(trained: RunView) -> None:
    """Host, rank and process."""
    assert list(trained.steps().columns)[:3] == ["thread_id", "loop", "loop_id"]
    assert list(trained.table("steps").columns)[:3] == ["host", "rank", "pid"]
    assert len(trained.steps()) == 250
    assert trained.steps()["dur_ns"].mean() == 20 * MS


def test_an_empty_table_has_its_columns(trained: RunView) -> None:
    """So that what a notebook does with it works without a GPU too."""
    assert trained.gpu().empty
    assert "utilisation_pct" in trained.gpu().columns
    assert trained.machine().index.name == "time_ns"
    assert list(trained.stacks().columns) == ["phase", "dur_ns", "share", "function", "file", "line", "stack"]


def test_an_unknown_table_is_refused_with_those_that_there_are(trained: RunView) -> None:
    """As a hint."""
    with pytest.raises(UsageError, match=r"There is no table step\.") as caught:
        trained.table("step")
    assert "steps" in str(caught.value.hint)


def test_sql_answers_with_a_frame(trained: RunView) -> None:
    """With whole numbers where DuckDB sums whole numbers."""
    frame = trained.sql("SELECT loop, count(*) AS steps, sum(dur_ns) AS dur_ns FROM steps GROUP BY loop")

    assert frame.to_dict("records") == [{"loop": "train", "steps": 250, "dur_ns": 5 * S}]
    assert str(frame["dur_ns"].dtype) == "int64[pyarrow]"


def test_sql_that_gives_no_rows_is_an_empty_frame(trained: RunView) -> None:
    """Not an error."""
    assert trained.sql("CREATE TABLE t (a INT)").empty


def test_sql_that_duckdb_refuses_is_a_usage_error(trained: RunView) -> None:
    """With DuckDB's words."""
    with pytest.raises(UsageError, match="The query failed"):
        trained.sql("SELECT nothing FROM nowhere")


KERNELS: list[dict[str, Any]] = [
    {"op": "mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 3},
    {"op": "add", "category": "elementwise", "layer": None, "direction": None, "ms": 1},
]


def test_kernels_by_layer_have_the_columns_of_the_command(tmp_path: Path) -> None:
    """The same sums, and shares of all time."""
    runs.trained(tmp_path / "a", **runs.window(KERNELS))
    frame = dlprof.open(tmp_path / "a").kernels()

    assert list(frame.columns[:6]) == ["layer", "direction", "op", "category", "kind", "device"]
    assert frame["layer"].to_list()[0] == "dense"
    assert frame["layer"].isna().to_list() == [False, True]
    assert frame[["count", "total_ns", "share"]].to_dict("records") == [
        {"count": 10, "total_ns": 30 * MS, "share": 0.75},
        {"count": 10, "total_ns": 10 * MS, "share": 0.25},
    ]
    assert frame["flops"].isna().all()


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("kernel", ["layer", "direction", "op", "category", "name", "kind", "device"]),
        ("op", ["op", "category", "kind", "device"]),
        ("category", ["category", "kind", "device"]),
        ("direction", ["direction", "kind", "device"]),
        ("device", ["kind", "device"]),
        ("step", ["step", "kind", "device"]),
    ],
)
def test_kernels_by_all_else_have_its_keys(tmp_path: Path, by: str, keys: list[str]) -> None:
    """Before the figures."""
    runs.trained(tmp_path / "a", **runs.window(KERNELS))
    frame = dlprof.open(tmp_path / "a").kernels(by)

    assert list(frame.columns)[: len(keys) + 1] == [*keys, "count"]
    assert frame["self_ns"].sum() == 40 * MS


def test_kernels_by_something_unknown_are_refused(trained: RunView) -> None:
    """With what there is."""
    with pytest.raises(UsageError, match=r"Kernels cannot be summed by colour\."):
        trained.kernels("colour")


def test_findings_are_ranked_from_one(tmp_path: Path) -> None:
    """As `dlprof diagnose` ranks them."""
    tables: dict[str, Any] = {
        "phases": runs.phases(startup=1, fit_steps=2, fit_input=6, teardown=1),
        "phase_intervals": runs.intervals(("startup", 0, 1), ("fit.steps", 1, 9), ("teardown", 9, 10)),
        "steps": runs.steps(100, dur_ms=20, input_ns=60 * MS), "spans": [runs.fit_span()],
    }  # fmt: skip
    runs.make(tmp_path / "a", **tables)
    frame = dlprof.open(tmp_path / "a").findings()

    assert frame.index.name == "rank"
    assert list(frame.index) == list(range(1, len(frame) + 1))
    assert frame.loc[1, "slug"] == "input-bound"
    assert frame.loc[1, "at_stake_ns"] > 5 * S


def test_a_run_without_phases_cannot_be_diagnosed_but_shown(tmp_path: Path) -> None:
    """The page leaves the causes out."""
    runs.make(tmp_path / "a")
    view = dlprof.open(tmp_path / "a")

    with pytest.raises(UsageError, match="cannot be diagnosed"):
        view.findings()
    assert "Where the time went is not known" in view._repr_html_()


# -- comparisons -------------------------------------------------------------------------------------


@pytest.fixture
def pair(tmp_path: Path) -> ComparisonView:
    """A run of 10 s and one of 6 s that has 4 s less of steps."""
    runs.trained(tmp_path / "a")
    short = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": 6 * S})
    tables = {"phases": runs.phases(startup=2, fit_steps=1, fit_callbacks=1, teardown=2)}
    tables["phases"][0]["phase"] = "import"
    runs.trained(tmp_path / "b", short, **tables)
    return dlprof.compare(dlprof.open(tmp_path / "a"), tmp_path / "b")


def test_items_of_a_comparison_sum_to_the_gap(pair: Any) -> None:
    """By path, with A less B."""
    items = pair.items()

    assert items.index.name == "path"
    assert items.loc["fit/steps", ["a_ns", "b_ns", "delta_ns"]].to_list() == [5 * S, 1 * S, 4 * S]
    assert items["delta_ns"].sum() == pair.gap_ns == 4 * S
    assert items["ci_low_ns"].isna().all()
    assert pair.gap_s == 4.0


def test_sides_of_a_comparison_can_be_called_by_other_names(tmp_path: Path) -> None:
    """Names of runs are long."""
    runs.trained(tmp_path / "a")
    found = dlprof.compare(tmp_path / "a", tmp_path / "a", labels=("before", "after"))

    assert repr(found) == "<dlprof comparison of before and after>"


def test_a_comparison_says_whether_it_is_fair(tmp_path: Path) -> None:
    """And why not."""
    runs.trained(tmp_path / "a")
    runs.trained(tmp_path / "b", spans=[runs.fit_span(batch_size=32)])
    found = dlprof.compare(tmp_path / "a", tmp_path / "b")

    assert not found.comparable
    assert "batch size" in found.why_not[0]
    assert "Not comparable, because" in found._repr_html_()


def test_frames_of_a_comparison_have_their_columns_where_nothing_was_counted(pair: Any) -> None:
    """No lines, no kernels."""
    assert list(pair.layers().columns)[:3] == ["layer", "direction", "a_ns"]
    assert list(pair.lines().columns)[:3] == ["file", "function", "line"]
    assert pair.lines().empty


# -- HTML --------------------------------------------------------------------------------------------


def test_the_page_of_a_run_begins_with_the_answer(trained: RunView) -> None:
    """The sentence, then the bar, then the steps."""
    page = trained._repr_html_()

    assert "60.0 % fit (6.00 s), 20.0 % import (2.00 s), 20.0 % teardown (2.00 s). A train step takes 20.0 ms" in page
    assert page.index("60.0 % fit") < page.index("class='bar'") < page.index("<table>")
    assert "<span style='width:50.00%;background:#0072b2' title='fit.steps: 5.00 s'>fit.steps</span>" in page
    assert "fit.callbacks 1.00 s (10.0 %)" in page


def test_the_page_is_small_and_needs_nothing_from_elsewhere(trained: RunView) -> None:
    """No script, no link, no colour of its own for the text."""
    page = trained._repr_html_()

    assert len(page) < 10_000
    assert not [word for word in ("<script", "http", "src=", "@import", "background:#fff") if word in page]


def test_texts_from_a_run_come_out_as_text(tmp_path: Path) -> None:
    """Names of scripts, arguments, phases, loops and what health says, each hostile."""
    told = runs.manifest(command={"script": HOSTILE, "module": None, "program": None, "argv": [HOSTILE]})
    runs.trained(
        tmp_path / "a",
        told,
        phases=[{"phase": HOSTILE, "parent": None, "dur_ns": 10 * S, "count": 1}],
        steps=runs.steps(20, loop=HOSTILE),
        health=[{"slug": "x", "severity": "error", "message": HOSTILE, "count": 1}],
    )
    page = dlprof.open(tmp_path / "a")._repr_html_()

    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&quot;&amp;") >= 4
    assert "\x1b" not in page
    assert "\x00" not in page
    assert len(page) < 20_000


def test_claims_and_places_of_findings_come_out_as_text(trained: RunView) -> None:
    """A finding carries names of files and functions."""
    from dlprof.analysis.findings.finding import Diagnosis, Finding

    finding = Finding("s", HOSTILE, S, 0.1, None, "measured", HOSTILE, 3, (), HOSTILE)

    page = html.of_run(trained.report, Diagnosis((finding,) * 4, (), 10 * S))

    assert "<script" not in page
    assert page.count("<li>") == 3
    assert "and 1 more: findings()" in page


def test_names_in_a_comparison_come_out_as_text(tmp_path: Path) -> None:
    """Labels are names of folders."""
    for name in ("<b>one<b>", "<b>two<b>"):
        runs.trained(tmp_path / name)
    page = dlprof.compare(tmp_path / "<b>one<b>", tmp_path / "<b>two<b>")._repr_html_()

    assert "<b>one<b>" not in page
    assert "&lt;b&gt;one&lt;b&gt;" in page


def test_the_page_of_a_comparison_draws_what_takes_longer_to_the_right(pair: Any) -> None:
    """Orange to the right where A takes longer."""
    page = pair._repr_html_()

    assert "a took 10.0 s, b 6.00 s: a is 1.67 x slower than b, by 4.00 s, most of it in fit/steps (4.00 s)." in page
    assert "<td>fit/steps</td><td>5.00 s</td><td>1.00 s</td><td>+4.00 s</td><td></td>" in page
    assert "<div style='margin-left:50.0%;width:50.0%;background:#d55e00'></div>" in page


def test_the_verdict_is_that_of_the_text_report(trained: RunView) -> None:
    """One sentence in one place."""
    assert summary.verdict(trained.report).startswith("60.0 % fit (6.00 s)")


# -- plots -------------------------------------------------------------------------------------------


@pytest.fixture
def pyplot() -> Any:
    """Matplotlib without a screen."""
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield plt
    plt.close("all")


def test_phases_are_drawn_in_seconds(trained: RunView, pyplot: Any) -> None:
    """Leaves only, in order of the run from the top."""
    ax = trained.plot.phases()

    assert ax.get_xlabel() == "time (s)"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["fit.callbacks", "fit.steps", "teardown", "import"]
    assert [bar.get_width() for bar in ax.patches] == [1.0, 5.0, 2.0, 2.0]


def test_steps_are_drawn_in_milliseconds_and_compiled_ones_marked(tmp_path: Path, pyplot: Any) -> None:
    """Points over the time of the run."""
    rows = runs.steps(10)
    rows[0].update(compiled=True, dur_ns=900 * MS)
    runs.trained(tmp_path / "a", steps=rows)
    ax = dlprof.open(tmp_path / "a").plot.steps()

    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time in the run (s)", "time of a step (ms)")
    assert [line.get_label() for line in ax.lines] == ["train", "train, compiled"]
    assert ax.lines[1].get_ydata().tolist() == [900.0]


def test_cores_are_drawn_in_percent(tmp_path: Path, pyplot: Any) -> None:
    """One line per core."""
    rows = [
        {"time_ns": n * S, "interval_ns": S, "core": core, "busy_pct": 50.0 * core} for n in (1, 2) for core in (0, 1)
    ]
    runs.trained(tmp_path / "a", cores=rows)
    ax = dlprof.open(tmp_path / "a").plot.cores()

    assert ax.get_ylabel() == "busy (%)"
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.0, 0.0], [50.0, 50.0]]


def test_kernels_are_drawn_with_the_dearest_on_top(tmp_path: Path, pyplot: Any) -> None:
    """What belongs to no layer is said so, and a dollar sign is no formula."""
    kernels = [{**KERNELS[0], "layer": "$dense$"}, KERNELS[1]]
    runs.trained(tmp_path / "a", **runs.window(kernels))
    ax = dlprof.open(tmp_path / "a").plot.kernels()

    assert [label.get_text() for label in ax.get_yticklabels()] == ["(none)", r"\$dense\$"]
    assert [bar.get_width() for bar in ax.patches] == [10.0, 30.0]
    assert ax.get_xlabel() == "time in the traced windows (ms)"


def test_kernels_outside_of_steps_are_drawn_by_step(tmp_path: Path, pyplot: Any) -> None:
    """They have no number."""
    tables = runs.window(KERNELS, count=2)
    for event in tables["kernel_events"][:2]:
        event["step"] = None
    runs.trained(tmp_path / "a", **tables)
    ax = dlprof.open(tmp_path / "a").plot.kernels("step")

    assert sorted(label.get_text() for label in ax.get_yticklabels()) == ["(none)", "1"]


def test_a_run_of_nothing_is_drawn_as_nothing(tmp_path: Path, pyplot: Any) -> None:
    """Empty Axes with their labels, and no error."""
    runs.make(tmp_path / "a")
    plot = dlprof.open(tmp_path / "a").plot

    assert [len(draw().patches) for draw in (plot.phases, plot.steps, plot.cores, plot.kernels)] == [0, 0, 0, 0]


def test_the_waterfall_leads_from_b_to_a(pair: Any, pyplot: Any) -> None:
    """From 6 s by +4 s to 10 s, on the Axes that are given."""
    _, given = pyplot.subplots()
    ax = pair.plot.waterfall(top=1, ax=given)

    assert ax is given
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 6.0), (6.0, 4.0), (0, 10.0)]
    assert ax.get_xlabel() == "wall time (s)"


def test_without_matplotlib_a_plot_says_what_to_install(trained: RunView, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, with the command."""
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(UnavailableError, match=r"matplotlib is not installed\."):
        trained.plot.cores()
