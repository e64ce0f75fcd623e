"""Models that are set up again and again."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis.findings import made_anew
from tests.unit import runs
from tests.unit.analysis.findings.cases import Tables, diagnosed, parts, pick, quiet, slugs
from tests.unit.runs import MS, S


def compiling(steps: int) -> Tables:
    """Ten compilations of 0.2 s at one line, and so many steps after each."""
    pieces, spans, rows = [("import", 0.0, 2.0)], [runs.fit_span()], []
    for n in range(10):
        begin = 2 + n * 0.6
        pieces += [("compile", begin, begin + 0.2), ("fit.steps", begin + 0.2, begin + 0.6)]
        spans.append(runs.span("compile", begin, begin + 0.2, span_id=9 + n, line=39))
        rows += runs.steps(steps, start_s=begin + 0.2, dur_ms=10)
    return quiet(
        phases=parts(compile=2, fit_steps=4, teardown=2),
        spans=spans,
        phase_intervals=runs.intervals(*pieces, ("teardown", 8, 10)),
        steps=rows,
    )


def test_a_model_that_is_compiled_for_each_few_steps_is_named(tmp_path: Path) -> None:
    """All but the first compilation are at stake."""
    finding = pick(diagnosed(tmp_path / "r", **compiling(2)), "retracing")

    assert (finding.heading, finding.line) == ("Models were set up again and again", 39)
    assert finding.at_stake_ns == 1_800 * MS


def test_a_search_trains_each_model_for_longer(tmp_path: Path) -> None:
    """Twenty steps of each."""
    assert "retracing" not in slugs(diagnosed(tmp_path / "r", **compiling(20)))


def trained_alike(*weights: int) -> Tables:
    """The same with twenty steps of each, and trainings of models with so many weights."""
    tables = compiling(20)
    fits = [
        runs.fit_span(
            training={"weights": {"count": count}},
            model={"layers": [{"name": f"dense_{n}", "class": "Dense"}], "models": [], "optimizer": {}},
        )
        for n, count in enumerate(weights)
    ]
    return {**tables, "spans": [*fits, *tables["spans"][1:]]}


def test_models_that_are_alike_could_be_one_however_long_each_is_trained(tmp_path: Path) -> None:
    """They have the same layers, and as many weights."""
    finding = pick(diagnosed(tmp_path / "r", **trained_alike(*[9048] * 5)), "retracing")

    assert "10 times at one line, each time with layers of the same classes and as many weights" in finding.claim
    assert "set_weights" in finding.next_step


def test_models_of_a_search_are_not_alike(tmp_path: Path) -> None:
    """One has more weights, or it is not known of one, or too few were trained to tell."""
    for folder, weights in {"a": (18_096,), "b": (0,), "c": ()}.items():
        told = trained_alike(*[9048] * 4, *weights)
        assert "retracing" not in slugs(diagnosed(tmp_path / folder, **told))


def test_layers_that_a_loop_makes_one_after_another_are_one_model(tmp_path: Path) -> None:
    """No step runs in between."""
    made = [runs.span("construct", 2 + n * 0.2, 2.2 + n * 0.2, span_id=9 + n, line=12) for n in range(10)]
    tables = quiet(
        phases=parts(construct=2, fit_steps=4, teardown=2),
        spans=[runs.fit_span(), *made],
        phase_intervals=runs.intervals(("import", 0, 2), ("construct", 2, 4), ("fit.steps", 4, 8), ("teardown", 8, 10)),
        steps=runs.steps(200, start_s=4),
    )

    assert "retracing" not in slugs(diagnosed(tmp_path / "r", **tables))


def test_calls_inside_of_each_other_are_counted_once() -> None:
    """Compiling a model of models compiles its parts."""
    assert made_anew.joined([(5 * S, 6 * S), (0, 3 * S), (1 * S, 2 * S)]) == [(0, 3 * S), (5 * S, 6 * S)]


def test_models_of_threads_that_train_side_by_side_are_not_set_up_again(tmp_path: Path) -> None:
    """A line makes one for each of ten threads; phases are of one of them, which makes one."""
    tables = compiling(2)
    script = runs.span("script", 0, 10, span_id=90, file=None, line=None)
    spans = [{**span, "thread_id": 10 + n, "thread": f"pool_{n}"} for n, span in enumerate(tables["spans"][1:])]
    turn = {"thread": "pool_0", "thread_id": 10, "system_id": None, "start_ns": 2 * S, "end_ns": 8 * S}
    told = runs.manifest(phase_threads=[turn])

    assert "retracing" not in slugs(diagnosed(tmp_path / "r", told, **{**tables, "spans": [script, *spans]}))
