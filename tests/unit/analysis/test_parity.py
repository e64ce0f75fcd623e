"""Parity before speed: whether two runs did the same work on the same machine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dlprof.analysis import parity
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.analysis.findings.loading import passes
from tests.unit.foreign import Event, foreign, marked
from tests.unit.runs import S, trained


def pair(tmp_path: Path, told: dict[str, Any] | None = None, **changes: list[dict[str, Any]]) -> tuple[Run, Run]:
    """A run, and one that differs from it as told."""
    return runs.trained(tmp_path / "a"), runs.trained(tmp_path / "b", told, **changes)


def test_equal_runs_are_comparable(tmp_path: Path) -> None:
    """Same script, arguments, data, weights, optimiser and losses."""
    found = parity.check(*pair(tmp_path))

    assert found.comparable
    assert found.differences == ()
    assert found.unknown == ()


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"training": {"floatx": "float64"}}, "the float type differs: float32 and float64"),
        ({"training": {"layout": "channels_first"}}, "the image layout differs: channels_last and channels_first"),
        ({"training": {"loss": "mae"}}, "the loss function differs: mse and mae"),
        ({"training": {"optimizer": {"class": "Adam"}}}, "the optimisers differ: SGD and Adam"),
        ({"training": {"weights": {"count": 11}}}, "the models differ: 10 and 11 trainable weights"),
        (
            {"training": {"weights": {"count": 10, "sums": [[10, 0.5, 2.6]]}}},
            "the initial weights differ",
        ),
        ({"batch_size": 64}, "the batch sizes differ: 128 and 64"),
        ({"samples": 640}, "the numbers of samples differ: 1280 and 640"),
        ({"data": [{"shape": [1280, 5], "mean": 0.5}]}, "the shapes of the data differ: [1280, 4] and [1280, 5]"),
        (
            {"data": [{"shape": [1280, 4], "mean": 0.6}]},
            "the data differ: means of the first rows are 0.5 and 0.6",
        ),
    ],
)
def test_different_work_is_not_comparable(tmp_path: Path, facts: dict[str, Any], text: str) -> None:
    """The reason is one sentence."""
    found = parity.check(*pair(tmp_path, spans=[runs.fit_span(**facts)]))

    assert found.why_not == (text,)


def test_a_learning_rate_matters_when_the_losses_differ(tmp_path: Path) -> None:
    """With equal losses it is only mentioned: it changes no work."""
    facts = {"training": {"optimizer": {"class": "SGD", "learning_rate": 0.02}}}
    same = parity.check(*pair(tmp_path, spans=[runs.fit_span(**facts)]))
    facts = {"training": {"optimizer": {"class": "SGD", "learning_rate": 0.02}}}
    other = parity.check(*pair(tmp_path / "2", spans=[runs.fit_span(**facts)], metrics=runs.losses(1.0, 0.9)))

    assert same.comparable
    assert same.differences == ("the optimiser's learning_rate differs: 0.01 and 0.02 (the losses agree)",)
    assert other.why_not[0] == "the losses differ: 0.5 and 0.9 in epoch 2, by more than 10% of the first epoch's"


def test_a_loss_that_is_no_number_on_one_side_is_a_difference() -> None:
    """NaN does not agree with anything but NaN."""
    assert parity.loss_difference((1.0, float("nan")), (1.0, 0.5)) == "the loss of epoch 2 is nan and 0.5"
    assert parity.loss_difference((float("nan"),), (float("nan"),)) is None


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"state": "interrupted"}, "B was interrupted"),
        ({"state": "running"}, "B has no end: its dlprof was killed, or is still at work"),
        ({"process": {"pid": 42, "exit_code": 3, "signal": None, "wall_ns": 10 * S}}, "B failed with exit code 3"),
        ({"process": {"pid": 42, "exit_code": None, "signal": 11, "wall_ns": 10 * S}}, "B was ended by signal 11"),
    ],
)
def test_a_run_that_did_not_end_well_is_not_comparable(tmp_path: Path, changes: dict[str, Any], text: str) -> None:
    """Whatever it did until then."""
    assert parity.check(*pair(tmp_path, runs.manifest(**changes))).why_not == (text,)


def test_scripts_and_arguments_are_compared(tmp_path: Path) -> None:
    """By name, and word for word."""
    command = {"script": "other.py", "module": None, "program": None, "argv": ["--epochs", "2"]}

    found = parity.check(*pair(tmp_path, runs.manifest(command=command)))

    assert found.why_not == (
        "the scripts differ: train.py and other.py",
        "the arguments differ: none and --epochs 2",
    )
    assert [text.partition(":")[0] for text in found.advice] == ["scripts"]


def test_other_initial_weights_have_what_helps(tmp_path: Path) -> None:
    """Who reads that they differ does not know how they would not."""
    facts = {"training": {"weights": {"count": 10, "sums": [[10, 0.5, 2.6]]}}}

    (advice,) = parity.check(*pair(tmp_path, spans=[runs.fit_span(**facts)])).advice

    assert "call keras.utils.set_random_seed(0)" in advice


def test_a_run_in_which_allocations_were_recorded_took_longer_for_that(tmp_path: Path) -> None:
    """It is no plain run; two of them are alike."""
    a, b = pair(tmp_path)
    b.manifest = structs.replace(b.manifest, config={**b.manifest.config, "heap": True})

    assert parity.check(a, b).differences == ("allocations were recorded in B alone (--heap), which takes time",)
    assert parity.check(b, b).differences == ()


def test_the_machine_and_its_settings_are_mentioned(tmp_path: Path) -> None:
    """They may be what is compared."""
    machine = {**runs.manifest()["machine"], "cpu": "y"}
    told = runs.manifest(machine=machine, environment={"OMP_NUM_THREADS": "1"})

    found = parity.check(*pair(tmp_path, told))

    assert found.comparable
    assert found.differences == ("processors: x and y", "OMP_NUM_THREADS: not set and 1")


def test_losses_of_models_with_dropout_may_differ_more(tmp_path: Path) -> None:
    """Random numbers differ between backends: a quarter of the first epoch's loss, not a tenth."""
    model = {"layers": [{"name": "d", "class": "Dropout"}], "models": []}
    plain = parity.check(*pair(tmp_path, metrics=runs.losses(1.0, 0.7)))
    spans = [runs.fit_span(model=model)]
    a = runs.trained(tmp_path / "c", spans=spans)

    assert not plain.comparable
    assert parity.check(a, runs.trained(tmp_path / "d", spans=spans, metrics=runs.losses(1.0, 0.7))).comparable


def with_pages(path: Path, pages: int) -> Run:
    """A run that had so many pages of its files read from disk before it trained."""
    sample = {"time_ns": S // 2, "interval_ns": S, "rss_bytes": S, "faults_major": pages}
    return runs.trained(path, process_samples=[sample])


@pytest.mark.parametrize(("pages", "told"), [(200, ["200 and 20"]), (20, [])])
def test_a_comparison_says_that_files_of_one_run_came_from_disk(tmp_path: Path, pages: int, told: list[str]) -> None:
    """Beside the figures, because no rule says it."""
    sides = with_pages(tmp_path / "a", pages), with_pages(tmp_path / "b", 20)
    texts = [text for text in parity.check(*sides).differences if "read from disk" in text]

    assert [re.findall(r"\d+ and \d+", text)[0] for text in texts] == told


def test_foreign_traces_are_comparable_where_they_hold_as_many_steps(tmp_path: Path) -> None:
    """They do not tell what was run: that is said to be unknown, and not to differ."""
    ten = [marked(f"step {n}", n, 1) for n in range(10)]
    a, b = foreign(tmp_path / "a", *ten), foreign(tmp_path / "b", *ten, source="nsys")
    found = parity.check(a, b)

    assert found.comparable
    assert found.differences == ("what recorded them: kineto and nsys",)
    assert found.unknown == ("what was run, and where: a foreign trace does not tell it",)


def test_foreign_traces_of_other_numbers_of_steps_are_not_comparable(tmp_path: Path) -> None:
    """How long a trace is depends on how long the profiler was on."""
    a = foreign(tmp_path / "a", *(marked(f"step {n}", n, 1) for n in range(10)))
    b = foreign(tmp_path / "b", *(marked(f"step {n}", n, 1) for n in range(4)))

    assert parity.check(a, b).why_not == ("the numbers of traced steps differ: 10 and 4",)


def test_a_trace_that_names_no_steps_may_have_some(tmp_path: Path) -> None:
    """It is not said that it did none."""
    a = foreign(tmp_path / "a", Event("operator", "mm", 0, 5))
    b = foreign(tmp_path / "b", *(marked(f"step {n}", n, 1) for n in range(4)))

    (why,) = parity.check(a, b).why_not
    assert why.startswith("4 steps of B are known and none of A, in which nothing names them")


def test_a_foreign_trace_is_compared_with_a_run_of_dlprof(tmp_path: Path) -> None:
    """By its steps: a script it has not."""
    found = parity.check(trained(tmp_path / "a"), foreign(tmp_path / "b", marked("step 1", 0, 5)))

    assert found.why_not == ("the numbers of traced steps differ: 250 and 1",)
    assert found.differences == ("what recorded them: dlprof's own probes and kineto",)


def test_runs_with_other_numbers_of_steps_did_other_work(tmp_path: Path) -> None:
    """Sums of time say nothing then; a few steps that were not seen do not matter."""
    runs_of = [runs.trained(tmp_path / str(count), steps=runs.steps(count)) for count in (240, 250, 3_840)]

    assert parity.check(runs_of[0], runs_of[2]).why_not == ("the numbers of training steps differ: 240 and 3,840",)
    assert parity.check(runs_of[0], runs_of[1]).why_not == ()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ()),
        ({"workers": 1}, ("workers of the DataLoader of Images (train.py:5): 2 processes and 1 process",)),
        ({"persistent": True}, ("persistent workers of the DataLoader of Images (train.py:5): no and yes",)),
        (
            {"queue": 4},
            ("batches made ahead of the DataLoader of Images (train.py:5): 2 for each worker and 4 for each worker",),
        ),
        ({"batch_size": 16}, ("batch size of the DataLoader of Images (train.py:5): 8 and 16",)),
        (
            {"workers": 0, "persistent": None, "queue": None},
            ("workers of the DataLoader of Images (train.py:5): 2 processes and none",),
        ),
        ({"line": 9}, ()),
        ({"dataset": "Rows"}, ("loaders: DataLoader of Images and DataLoader of Rows",)),
    ],
)
def test_loaders_that_were_set_otherwise_are_told(
    tmp_path: Path, changes: dict[str, Any], told: tuple[str, ...]
) -> None:
    """That may be what is compared: the runs stay comparable."""
    a, b = (runs.trained(tmp_path / name, loaders=passes(**own)) for name, own in (("a", {}), ("b", changes)))

    found = parity.check(a, b)

    assert (found.comparable, found.differences) == (True, told)


def test_a_loader_that_is_made_anew_is_one(tmp_path: Path) -> None:
    """For each epoch, on one line."""
    a = runs.trained(tmp_path / "a", loaders=passes())
    b = runs.trained(tmp_path / "b", loaders=[*passes(1), *passes(1, loader=2), *passes(1, loader=3)])

    assert parity.check(a, b).differences == ()


def test_a_run_that_no_loader_fed_is_not_said_to_have_another(tmp_path: Path) -> None:
    """Arrays and tf.data are no loaders."""
    a, b = runs.trained(tmp_path / "a", loaders=passes()), runs.trained(tmp_path / "b")

    assert parity.check(a, b).differences == ()


def test_a_trace_with_functions_of_python_differs_from_one_without(tmp_path: Path) -> None:
    """What is Python in one is idle in the other."""
    step = marked("step 1", 0, 5)
    a = foreign(tmp_path / "a", step)
    b = foreign(tmp_path / "b", step, Event("python", "train.py(7): main", 0, 5))

    assert parity.check(a, b).differences == (
        "only B was traced with functions of Python, which takes time; its host_python is idle in A",
    )


def own_loop(optimizer: str, dtype: str = "float32", **more: Any) -> list[dict[str, Any]]:
    """The span of a loop of the script's own, which tells no settings."""
    model = {"layers": [], "models": [], "optimizer": {"name": optimizer, "class": optimizer}}
    detail = {"how": "inferred", "model": model, "training": {"weights": {"count": 10, "dtype": dtype}}, **more}
    return [runs.span("fit", 2.0, 8.0, name="fit", span_id=1, detail=json.dumps(detail))]


@pytest.mark.parametrize(
    ("span", "why"),
    [
        (own_loop("SGD"), ()),
        (own_loop("Adam"), ("the optimisers differ: SGD and Adam",)),
        (own_loop("SGD", "float64"), ("the types of the weights differ: float32 and float64",)),
    ],
)
def test_loops_of_a_script_s_own_have_an_optimiser_and_a_float_type(
    span: list[dict[str, Any]], why: tuple[str, ...], tmp_path: Path
) -> None:
    """Comparable before, as far as seen: only the settings of Keras were looked at."""
    told = {**runs.manifest(), "keras": None}
    a = runs.trained(tmp_path / "a", told, spans=own_loop("SGD"))

    assert parity.check(a, runs.trained(tmp_path / "b", told, spans=span)).why_not == why


def test_a_loop_of_the_script_s_own_differs_from_that_of_keras(tmp_path: Path) -> None:
    """Which does more in each step."""
    found = parity.check(*pair(tmp_path, spans=own_loop("SGD")))

    assert "who runs the steps: Keras' own loop and a loop of the script's own" in found.differences


def test_types_of_the_data_are_told(tmp_path: Path) -> None:
    """They may be what is compared, or slow it."""
    data = [{"shape": [1280, 4], "dtype": "float64", "mean": 0.5}]
    found = parity.check(*pair(tmp_path, spans=[runs.fit_span(data=data)]))

    assert found.differences == ("types of the data: float32 and float64",)


def test_weights_of_another_type_are_other_work(tmp_path: Path) -> None:
    """Of a loop of the script's own, of which no float type is told otherwise."""
    told = [{"floatx": None, "weights": {"count": 10, "dtype": kind}} for kind in ("float64", "float32")]
    sides = [runs.trained(tmp_path / str(n), spans=[runs.fit_span(training=one)]) for n, one in enumerate(told)]

    assert "the types of the weights differ: float64 and float32" in parity.check(*sides).why_not
