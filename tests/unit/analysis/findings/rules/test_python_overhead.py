"""Python of the user's, inside steps and around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    FIT,
    KERNELS,
    Call,
    Planted,
    Tables,
    diagnosed,
    keep_source,
    on,
    parts,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import S


def planted() -> Planted:
    """A layer in Python stands in its own line for half of the steps, and no kernel runs then."""
    stood = sampled((2, 5, [*FIT, ("call", "train.py", 15)]), (5, 8, FIT))
    return Planted(quiet(**runs.window([{**KERNELS[0], "ms": 8}]), **stood))


def test_python_inside_steps_is_named(tmp_path: Path) -> None:
    """A layer in Python stands in its own line for half of the steps, and no kernel runs then."""
    finding = pick(planted().diagnosis(tmp_path), "python-overhead")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert finding.line == 15


def test_a_thread_that_waits_for_another_one_runs_no_python(tmp_path: Path) -> None:
    """False for a day: a logger beside the training, in whose queue nothing was."""
    file = "<python>/threading.py"
    logger = [("_bootstrap", file, 9), ("run", "train.py", 40), ("wait", file, 41)]
    main, beside = sampled((2, 8, FIT)), sampled((2, 8, logger), thread="Thread-1")
    for row in beside["stacks"]:
        row |= {"thread_id": 2, "stack_id": 9}
    for row in beside["frames"]:
        row["stack_id"] = 9
    untraced: Tables = {"kernel_ops": [], "kernel_events": [], "kernel_windows": []}
    tables = untraced | {name: [*main[name], *beside[name]] for name in main}

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", **quiet(**tables)))


def row_by_row(kernel_ms: int) -> Tables:
    """A layer that starts 400 tiny operators stands for half of the steps; of the way back three of four are its own."""
    calls = [*FIT, ("call", "train.py", 15)]
    back = [*FIT, ("backward", "torch/_tensor.py", 9), ("_engine_run_backward", "torch/autograd/graph.py", 7)]
    row = {"op": "aten::div", "category": "elementwise", "layer": "rows", "direction": "forward", "ms": 0.01}
    rows = [*[row] * 400, *[{**row, "direction": "backward"}] * 300]
    others = [{**row, "layer": "dense_1", "direction": "backward"}] * 100
    window = runs.window([{**KERNELS[0], "ms": kernel_ms}, *rows, *others])
    return quiet(**{**window, **sampled((2, 5, calls), (5, 8, back))})


def test_a_layer_that_goes_through_its_rows_one_by_one_is_python(tmp_path: Path) -> None:
    """Half of the steps in its own frames; and three of four operators of the way back, which is the other half."""
    finding = pick(diagnosed(tmp_path / "r", **row_by_row(kernel_ms=8)), "python-overhead")

    assert finding.at_stake_ns == pytest.approx(3 * S + 0.75 * 3 * S, rel=0.01)
    assert finding.basis == "estimated"


@pytest.mark.parametrize(
    ("text", "stake_s"), [("rows.append(self.cell(x[:, t]))", 5.25), ("h = self.cell(x[:, t], h)", 2.62)]
)
def test_the_way_back_through_a_recurrence_is_no_python(text: str, stake_s: float, tmp_path: Path) -> None:
    """False before: 84 % sure of it. What Python adds between its operators is left."""
    run = runs.trained(tmp_path / "r", None, **row_by_row(kernel_ms=2))
    keep_source(run, "\n" * 13 + f"for t in range(n):\n    {text}\n")

    assert pick(diagnose.diagnose(run), "python-overhead").at_stake_ns == pytest.approx(stake_s * S, rel=0.01)


def test_a_recurrent_layer_that_starts_tiny_operators_itself_is_no_python(tmp_path: Path) -> None:
    """False before: a GRU over 60 points in time starts hundreds of them in one operator of the engine's."""
    tables = row_by_row(kernel_ms=2)
    whole = {**tables["kernel_ops"][0], "op_id": 900, "op": "aten::gru", "category": "recurrent", "layer": "rows"}
    tables["kernel_ops"] = [*tables["kernel_ops"], {**whole, "direction": "forward"}]
    tables["kernel_events"] = [*tables["kernel_events"], {**tables["kernel_events"][0], "op_id": 900, "dur_ns": 1000}]
    finding = pick(diagnosed(tmp_path / "r", **tables), "python-overhead")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)


def test_a_long_script_outside_keras_is_python(tmp_path: Path) -> None:
    """Loops over pixels before fit."""
    tables = quiet(
        phases=parts(import_=1, script=3, fit_steps=4, teardown=2),
        steps=runs.steps(200, start_s=4),
        phase_intervals=runs.intervals(("import", 0, 1), ("script", 1, 4), ("fit.steps", 4, 8), ("teardown", 8, 10)),
        **sampled((1, 4, [("<module>", "train.py", 5), ("prepare", "train.py", 3)])),
    )
    finding = pick(diagnosed(tmp_path / "r", **tables), "python-overhead")

    assert (finding.at_stake_ns, finding.line) == (3 * S, 3)


@pytest.mark.parametrize(("caller", "is_said"), [("chainer/links/rnn/n_step_rnn.py", False), ("train.py", True)])
def test_what_an_engine_has_numpy_compute_is_no_python_of_the_script(
    tmp_path: Path, caller: str, is_said: bool
) -> None:
    """False before: the weights that a recurrent layer of Chainer joins at each point in time."""
    stack = [("<module>", "train.py", 5), ("stack", caller, 9), ("concatenate", "<__array_function__ internals>", 200)]
    tables = quiet(
        phases=parts(import_=1, script=3, fit_steps=4, teardown=2),
        steps=runs.steps(200, start_s=4),
        phase_intervals=runs.intervals(("import", 0, 1), ("script", 1, 4), ("fit.steps", 4, 8), ("teardown", 8, 10)),
        **sampled((1, 4, stack)),
    )
    assert ("python-overhead" in slugs(diagnosed(tmp_path / "r", **tables))) == is_said


@pytest.mark.parametrize(
    ("told", "is_said"),
    [
        ({}, True),
        ({"process": {"wall_ns": 10 * S, "cpu_user_ns": 9 * S, "cpu_system_ns": S}}, True),
        ({"process": {"wall_ns": 10 * S, "cpu_user_ns": S // 10, "cpu_system_ns": 0}}, False),
        ({"backend": {"source": "program"}}, False),
    ],
)
def test_without_stacks_python_is_what_the_process_computed_at_most(
    told: dict[str, Any], is_said: bool, tmp_path: Path
) -> None:
    """False before, without `/proc`: a script that waited for others; and any program that is run from the outside."""
    tables = quiet(
        phases=parts(import_=1, script=3, fit_steps=4, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 1), ("script", 1, 4), ("fit.steps", 4, 8), ("teardown", 8, 10)),
    )
    without: Tables = {**tables, "stacks": [], "frames": []}

    assert ("python-overhead" in slugs(diagnosed(tmp_path / "r", runs.manifest(**told), **without))) is is_said


@pytest.mark.parametrize(("seconds", "is_said"), [(1, False), (2, True)])
def test_preparing_data_before_the_training_may_take_a_while(tmp_path: Path, seconds: int, is_said: bool) -> None:
    """As a script was recorded that makes its images first: 14 % of the work is usual, 29 % is worth a word."""
    fit = 1 + seconds
    phases = ("script", 1, fit), ("fit.steps", fit, 8), ("teardown", 8, 10)
    tables = quiet(
        phases=parts(import_=1, script=seconds, fit_steps=7 - seconds, teardown=2),
        steps=runs.steps(200, start_s=fit),
        phase_intervals=runs.intervals(("import", 0, 1), *phases),
        spans=[{**runs.fit_span(), "start_ns": fit * S, "dur_ns": (8 - fit) * S}],
        **sampled((1, fit, [("<module>", "train.py", 13)])),
    )

    assert ("python-overhead" in slugs(diagnosed(tmp_path / "r", **tables))) == is_said


def test_layers_of_many_operators_on_the_way_back_and_in_updates_are_usual(tmp_path: Path) -> None:
    """False before: a transformer's attention has 80 forward and 230 back, its optimiser 700."""
    row = {"op": "aten::div", "category": "elementwise", "layer": "attention", "direction": "forward", "ms": 0.01}
    backward, update = ({**row, "direction": name} for name in ("backward", "update"))
    window = runs.window([{**KERNELS[0], "ms": 8}, *[row] * 40, *[backward] * 230, *[update] * 700])
    back = [*FIT, ("backward", "torch/_tensor.py", 9), ("_engine_run_backward", "torch/autograd/graph.py", 7)]

    stood = sampled((2, 2.2, [*FIT, ("call", "train.py", 15)]), (2.2, 8, back))

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", **quiet(**{**window, **stood})))


def test_a_line_of_a_model_that_starts_operators_itself_is_no_python(tmp_path: Path) -> None:
    """False before: `F.embedding(...)` in a module of PyTorch leaves no frame of its own, and there is a gap before it."""
    span = {**runs.fit_span(), "detail": '{"how": "inferred"}'}
    forward = [("<module>", "train.py", 50), ("_call_impl", "torch/nn/module.py", 9), ("forward", "train.py", 25)]
    stood = sampled((2, 3.5, forward), (3.5, 8, [("<module>", "train.py", 50), ("backward", "torch/_tensor.py", 9)]))
    tables = quiet(spans=[span], **runs.window([{**KERNELS[0], "ms": 14}]), **stood)

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", runs.manifest(keras=None), **tables))


@pytest.mark.parametrize(
    ("turn", "turns", "is_inside"),
    [("out.append(cell(x[t]))", 16, True), ("h = cell(x[t], h)", 16, False), ("h = epoch(h)", 0.01, True)],
)
def test_what_a_loop_through_time_starts_is_told_as_that(
    tmp_path: Path, turn: str, turns: float, is_inside: bool
) -> None:
    """False before: of a decoder's attention, called for word after word, "write it with operations of the engine".

    A loop over epochs may need the one before, too: it is no loop of a step.
    """
    span = {**runs.fit_span(), "detail": '{"how": "inferred"}'}
    attends = [("<module>", "train.py", 3), ("_call_impl", "torch/nn/module.py", 9), ("forward", "train.py", 5)]
    stood = sampled((2, 6.5, attends), (6.5, 8, [("<module>", "train.py", 7), ("backward", "torch/_tensor.py", 9)]))
    line = {"file": "train.py", "function": "forward", "first_line": 4, "line": 5, "hits": 16 * 300, "time_ns": S}
    loop = {**line, "function": "<module>", "first_line": 1, "line": 3, "hits": round(turns * 300)}
    tables = quiet(spans=[span], lines=[line, loop], **runs.window([{**KERNELS[0], "ms": 6}]), **stood)
    run = runs.trained(tmp_path / "r", runs.manifest(keras=None), **tables)
    keep_source(run, f"\nfor t in range(16):\n    {turn}\ndef forward(x):\n    return softmax(x)")
    finding = pick(diagnose.diagnose(run), "python-overhead")

    assert finding.heading == (
        "Python code of the script ran inside the steps" if is_inside else "A line ran very many times in each step"
    )


@pytest.mark.parametrize(("works", "is_said"), [(False, False), (True, True)])
def test_a_script_that_waits_for_a_thread_runs_python_only_there(works: bool, is_said: bool, tmp_path: Path) -> None:
    """False before: a server of the script's own was shut down, which waits for its thread to look."""
    waits: list[Call] = [("<module>", "train.py", 62), ("Event.wait", "<python>/threading.py", 629)]
    stood = sampled((1, 4, waits))
    if works:
        beside = sampled((1, 4, [("_bootstrap", "<python>/threading.py", 9), ("count", "train.py", 40)]), thread="T")
        stood["stacks"] += [{**row, "stack_id": 9, "thread_id": 2} for row in beside["stacks"]]
        stood["frames"] += [{**row, "stack_id": 9} for row in beside["frames"]]
    tables = quiet(
        phases=parts(import_=1, script=3, fit_steps=4, teardown=2),
        steps=runs.steps(200, start_s=4),
        phase_intervals=runs.intervals(("import", 0, 1), ("script", 1, 4), ("fit.steps", 4, 8), ("teardown", 8, 10)),
        **stood,
    )

    assert ("python-overhead" in slugs(diagnosed(tmp_path / "r", **tables))) is is_said


def outside(folder: Path, stack: list[Call], source: str = "", *, asynchronous: bool = False) -> list[str]:
    """What is said of a script that trains nothing and stands so for 3 of 10 s."""
    stood = sampled((1, 4, stack), (4, 8, [("<module>", "train.py", 9), ("f", "torch/functional.py", 3)]))
    tables = quiet(
        phases=parts(import_=1, script=7, teardown=2),
        steps=[],
        lines=[{"file": "train.py", "function": "f", "first_line": 1, "line": 3, "hits": 9, "time_ns": S}],
        phase_intervals=runs.intervals(("import", 0, 1), ("script", 1, 8), ("teardown", 8, 10)),
        **stood,
    )
    run = runs.trained(folder / "r", on("torch", asynchronous=asynchronous), **tables)
    keep_source(run, source)
    return slugs(diagnose.diagnose(run))


@pytest.mark.parametrize(
    ("above", "is_said"),
    [
        ("torch/nn/modules/module.py", False),
        ("train.py", True),
        ("<python>/asyncio/events.py", True),
        ("torch/utils/_contextlib.py", True),
    ],
)
def test_a_model_that_is_only_called_is_no_data_to_be_prepared(above: str, is_said: bool, tmp_path: Path) -> None:
    """False before: text that is generated token by token; the lines of `forward` start operators."""
    stack: list[Call] = [("<module>", "train.py", 8), ("_call_impl", above, 1789), ("forward", "train.py", 3)]

    assert ("python-overhead" in outside(tmp_path, stack)) is is_said


@pytest.mark.parametrize(
    ("line", "asynchronous", "is_said"),
    [
        ("kept.append(np.asarray(answer))", True, False),
        ("kept.append(np.asarray(answer))", False, True),
        ("d = np.array([distance(q, r) for r in rows])", True, True),
    ],
)
def test_a_line_that_waits_for_a_value_is_no_python(
    line: str, asynchronous: bool, is_said: bool, tmp_path: Path
) -> None:
    """False before: NumPy reads an array of an engine that still computes it, and leaves no frame; a loop runs."""
    said = outside(tmp_path, [("<module>", "train.py", 3)], f"\n\n{line}\n", asynchronous=asynchronous)

    assert ("python-overhead" in said) is is_said


def test_a_line_below_which_an_engine_mostly_stands_calls_it(tmp_path: Path) -> None:
    """False before: what a sample meets in the line itself is on the way there."""
    stood = sampled(
        (1, 3, [("<module>", "train.py", 3)]),
        (3, 8, [("<module>", "train.py", 3), ("relu", "torch/nn/functional.py", 7)]),
    )
    tables = quiet(
        phases=parts(import_=1, script=7, teardown=2),
        steps=[],
        phase_intervals=runs.intervals(("import", 0, 1), ("script", 1, 8), ("teardown", 8, 10)),
        **stood,
    )

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", **tables))
