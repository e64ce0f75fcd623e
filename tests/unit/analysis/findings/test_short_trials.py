"""Many models that are compiled for a moment of training each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, diagnosed, parts, pick, quiet, slugs
from tests.unit.runs import S


def build(weights: int, name: str) -> str:
    """What a training tells of a model of one layer."""
    return (
        f'{{"model": {{"layers": [{{"name": "{name}", "class": "Dense"}}]}}, "batch_size": 32, '
        f'"data": [{{"shape": [64, 8]}}], "training": {{"weights": {{"count": {weights}}}}}}}'
    )


def search(
    folder: Path, models: int = 8, compiling_s: float = 4, weights: tuple[int, ...] = (), names: str = "abcd"
) -> Diagnosis:
    """Models that are made and compiled one after another, 6 s with their training; of some it is known what they are."""
    each, steps_s = compiling_s / models, 6 - compiling_s
    made = [runs.span("construct", 2 + n * each, 2.01 + n * each, span_id=50 + n, line=13) for n in range(models)]
    fits: list[dict[str, Any]] = [runs.fit_span()]
    fits += [runs.span("fit", 9, 9.01, span_id=90 + n, detail=build(one, names[n])) for n, one in enumerate(weights)]
    steps = runs.steps(100, start_s=2 + compiling_s)
    firsts = [
        {**steps[0], "start_ns": int((2.02 + n * each) * S), "dur_ns": S // 10, "first": True, "compiled": True}
        for n in range(models)
    ]
    tables = quiet(
        phases=parts(fit_steps=steps_s, fit_graph_compile=compiling_s, teardown=2),
        spans=[*fits, *made],
        steps=[*firsts, *steps],
        **runs.window(KERNELS, begin_s=6.5),
        phase_intervals=runs.intervals(
            ("import", 0, 2),
            ("fit.graph_compile", 2, 2 + compiling_s),
            ("fit.steps", 2 + compiling_s, 8),
            ("teardown", 8, 10),
        ),
    )
    return diagnosed(folder / "r", **tables)


def test_a_search_is_asked_whether_it_needs_each_of_its_graphs(tmp_path: Path) -> None:
    """Eight models in 4 s: all but the first, 3.5 s; it is what such a script does, so it is no claim."""
    finding = pick(search(tmp_path), "graph-compile-dominates")

    assert (finding.at_stake_ns, finding.is_question) == (3_500_000_000, True)
    assert finding.claim.startswith("8 models were compiled, 500 ms each, for 250 ms of training each; all but the fir")


@pytest.mark.parametrize(("models", "compiling_s"), [(4, 4.0), (8, 2.9)], ids=["few", "trained for longer"])
def test_nothing_is_asked_of_what_is_no_search(models: int, compiling_s: float, tmp_path: Path) -> None:
    """Few models are trained in turn; what trains for longer than it compiles has its graphs for a reason."""
    assert slugs(search(tmp_path, models, compiling_s)) == []


def test_models_that_are_built_as_one_before_are_counted(tmp_path: Path) -> None:
    """Of four that told, two have the weights of the first."""
    finding = pick(search(tmp_path, weights=(10, 10, 20, 10)), "graph-compile-dominates")

    assert finding.claim.endswith("2 of them have the layers and the number of weights of one before.")


def test_a_model_that_is_trained_again_is_none_that_is_built_as_one_before(tmp_path: Path) -> None:
    """Its layers have the names that they had."""
    finding = pick(search(tmp_path, weights=(10, 10, 10), names="aab"), "graph-compile-dominates")

    assert finding.claim.endswith("1 of them has the layers and the number of weights of one before.")


def test_nothing_is_said_of_models_that_are_all_different(tmp_path: Path) -> None:
    """Other weights each."""
    finding = pick(search(tmp_path, weights=(10, 20)), "graph-compile-dominates")

    assert "of one before" not in finding.claim
