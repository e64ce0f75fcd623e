"""What no finding explains, and what was seen there."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.rest import Rest, Stood
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import StepPart
from tests.unit import runs
from tests.unit.analysis.findings.cases import Tables, diagnosed, parts, quiet, sampled
from tests.unit.runs import S

_COMPILING = [("<module>", "train.py", 5), ("backend_compile", "jax/_src/compiler.py", 7)]


def built(share: float) -> Tables:
    """A model that is built for 4 s before a training of 2 s; the script stands in a compilation for a share of that, else in a library."""
    end = 2 + 4 * share
    stood = sampled((2, end, _COMPILING), (end, 6, [("<module>", "library/run.py", 5)]))
    return quiet(
        phases=parts(construct=4, fit_steps=2, teardown=2),
        steps=runs.steps(100, start_s=6),
        phase_intervals=runs.intervals(("import", 0, 2), ("construct", 2, 6), ("fit.steps", 6, 8), ("teardown", 8, 10)),
        **stood,
    )


def building(path: Path, share: float) -> Rest:
    """What is left of that."""
    return next(rest for rest in diagnosed(path / "r", **built(share)).rest if rest.path == Tree.CONSTRUCT)


def test_the_largest_place_is_named_with_its_line_and_what_it_does(tmp_path: Path) -> None:
    """4 of 10 s, all of them under line 5."""
    stood = Stood("train.py", 5, 1.0, "backend_compile", "jax/_src/compiler.py", "compiling")

    assert building(tmp_path, 1.0) == Rest(Tree.CONSTRUCT, 4 * S, 0.4, stood)


def test_the_function_is_the_one_that_most_time_was_in_and_has_a_file(tmp_path: Path) -> None:
    """Two stacks of 1.2 s in one function, above what NumPy makes without a file; one of 1.6 s in another."""
    at = ("main", "train.py", 5)
    stacks = [[at, ("stack", "numpy/shape_base.py", line), ("call", "<__array_function__>", 180)] for line in (7, 8)]
    other = [at, ("dot", "numpy/core.py", 3)]
    tables = built(1.0) | sampled((2, 3.2, stacks[0]), (3.2, 4.4, stacks[1]), (4.4, 6, other))

    rest = next(one for one in diagnosed(tmp_path / "r", **tables).rest if one.path == Tree.CONSTRUCT)

    assert rest.stood is not None
    assert (rest.stood.function, rest.stood.function_file) == ("stack", "numpy/shape_base.py")


def test_where_no_line_of_the_user_s_stood_for_long_that_of_a_library_is_named(tmp_path: Path) -> None:
    """A tenth of the samples says nothing of the place; nine tenths do, wherever they are."""
    stood = building(tmp_path, 0.1).stood

    assert stood is not None
    assert (stood.file, stood.line, stood.function) == ("library/run.py", 5, "<module>")
    assert stood.share == pytest.approx(0.9)


def test_the_largest_place_is_named_however_small(tmp_path: Path) -> None:
    """Below 5 % no other one is."""
    names = ("fit_steps", "evaluate", "predict", "script", "data", "construct", "compile", "save", "teardown")
    tables = quiet(phases=parts(import_=0.4, **dict.fromkeys(names, 0.4), fit_build=0.5), steps=[], phase_intervals=[])

    assert [rest.path for rest in diagnosed(tmp_path / "r", **tables).rest] == [Tree.FIT_BUILD]


def test_kernels_are_named_by_the_layer_with_most_of_them(tmp_path: Path) -> None:
    """Three quarters of the products are one layer's."""
    one = {"op": "mm", "category": "matmul", "direction": "forward"}
    window = runs.window([{**one, "layer": "a", "ms": 12}, {**one, "layer": "b", "ms": 4}])
    rests = diagnosed(tmp_path / "r", **quiet(**window)).rest

    worked = next(rest.worked for rest in rests if rest.path == Tree.FIT_STEPS / StepPart.KERNELS / "matmul")
    assert worked is not None
    assert (worked.layer, worked.direction, worked.op) == ("a", "forward", "mm")
    assert worked.share == pytest.approx(0.75)


def test_places_come_by_their_time_and_small_ones_not_at_all(tmp_path: Path) -> None:
    """No more than three, each of 5 % and more; what dlprof took is its own."""
    rests = diagnosed(tmp_path / "r", **built(1.0)).rest

    assert rests[0].path == Tree.CONSTRUCT
    assert len(rests) == 3
    assert all(rest.share >= 0.05 and not rest.path.startswith("dlprof") for rest in rests)


def test_lines_with_a_tenth_of_the_time_that_no_finding_names_are_told_with_how_often_they_ran(tmp_path: Path) -> None:
    """4 of 4.4 s that were sampled of 6 s, below line 40, which ran 300 times; hits that were scaled are not told."""
    back = [
        ("<module>", "train.py", 7),
        ("learn", "train.py", 40),
        ("_engine_run_backward", "torch/autograd/graph.py", 9),
    ]
    short = [("<module>", "train.py", 7), ("learn", "train.py", 41), ("step", "torch/optim/adam.py", 9)]
    row = {"file": "train.py", "function": "learn", "first_line": 30, "line": 40, "hits": 300, "time_ns": 4 * S}
    stood = sampled((2, 6, back), (6, 6.4, short))
    exact = diagnosed(tmp_path / "a", **quiet(**stood, lines=[{**row, "how": "exact"}]))
    scaled = diagnosed(tmp_path / "b", **quiet(**stood, lines=[{**row, "how": "scaled"}]))

    assert [(one.line, one.hits, one.doing) for one in exact.lines] == [(40, 300, "computing gradients")]
    assert exact.lines[0].each_ns == pytest.approx(6 * 4 / 4.4 / 300 * S, rel=0.01)
    assert [one.hits for one in scaled.lines] == [None]


def test_the_line_that_calls_fit_is_not_told(tmp_path: Path) -> None:
    """What it has says no more than the phases do; a line of the model does."""
    inside = [("<module>", "train.py", 7), ("fit", "keras/trainer.py", 9)]
    penalty = [*inside, ("penalty", "train.py", 30), ("_engine_run_backward", "torch/autograd/graph.py", 9)]
    epochs = [{"loop_id": 1, "epoch": 0, "start_ns": 2 * S, "dur_ns": 6 * S, "steps": 300}]
    run = quiet(**sampled((2, 4, inside), (4, 6, penalty)), epochs=epochs)

    assert [(one.file, one.line) for one in diagnosed(tmp_path / "r", **run).lines] == [("train.py", 30)]
