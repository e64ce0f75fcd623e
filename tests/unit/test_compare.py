"""Parity before speed, and a waterfall whose items sum to the gap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import compare, line_pairs, parity
from dlprof.analysis.compare import Side
from dlprof.errors import UsageError
from dlprof.report import compare_json, compare_text
from dlprof.report.json_text import plain
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import MS, S

KERNELS = [{"op": "aten::mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 10}]


def pair(tmp_path: Path, told: dict[str, Any] | None = None, **changes: list[dict[str, Any]]) -> tuple[Run, Run]:
    """A run, and one that differs from it as told."""
    return runs.trained(tmp_path / "a"), runs.trained(tmp_path / "b", told, **changes)


def compared(a: Run, b: Run) -> compare.Comparison:
    """Two runs as a comparison."""
    return compare.compare(Side("a", (a,)), Side("b", (b,)))


def slower(path: Path, import_s: float) -> Run:
    """A run whose import takes so long, and whose wall time is longer by that."""
    wall = int((8 + import_s) * S)
    told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": wall})
    rows = [
        {"phase": "import", "parent": None, "dur_ns": int(import_s * S), "count": 1},
        *runs.phases(fit_steps=5, fit_callbacks=1, teardown=2),
    ]
    return runs.trained(path, told, phases=rows)


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
        ({"state": "imported"}, "B is made of foreign traces, which know no phases"),
    ],
)
def test_a_run_that_did_not_end_well_is_not_comparable(tmp_path: Path, changes: dict[str, Any], text: str) -> None:
    """Whatever it did until then."""
    assert parity.check(*pair(tmp_path, runs.manifest(**changes))).why_not == (text,)


def test_the_same_run_twice_is_said_to_be_so(tmp_path: Path) -> None:
    """There is no gap in it."""
    run = runs.trained(tmp_path / "a")

    found = compared(run, run)

    assert found.parity.why_not == ("A and B are the same run",)
    assert found.gap_ns == 0
    assert found.noise


def test_scripts_and_arguments_are_compared(tmp_path: Path) -> None:
    """By name, and word for word."""
    command = {"script": "other.py", "module": None, "program": None, "argv": ["--epochs", "2"]}

    found = parity.check(*pair(tmp_path, runs.manifest(command=command)))

    assert found.why_not == (
        "the scripts differ: train.py and other.py", "the arguments differ: none and --epochs 2",
    )  # fmt: skip


def test_the_machine_and_its_settings_are_mentioned(tmp_path: Path) -> None:
    """They may be what is compared."""
    machine = {**runs.manifest()["machine"], "cpu": "y"}
    told = runs.manifest(machine=machine, environment={"OMP_NUM_THREADS": "1"})

    found = parity.check(*pair(tmp_path, told))

    assert found.comparable
    assert found.differences == ("processors: x and y", "OMP_NUM_THREADS: not set and 1")


def test_items_and_the_unattributed_sum_to_the_gap(tmp_path: Path) -> None:
    """To the nanosecond, also with means over runs."""
    a = Side("a", tuple(slower(tmp_path / f"a{n}", 3 + n / 7) for n in range(3)))
    b = Side("b", tuple(slower(tmp_path / f"b{n}", 1 + n / 7) for n in range(3)))

    found = compare.compare(a, b)

    assert sum(item.delta_ns for item in found.items) + found.unattributed_ns == found.gap_ns
    assert found.items[0].path == "import"


def test_three_runs_on_each_side_give_intervals(tmp_path: Path) -> None:
    """The import differs by 2 s, between runs by at most 0.2: its interval holds 2 s and not 0."""
    a = Side("a", tuple(slower(tmp_path / f"a{n}", 3 + n / 10) for n in range(3)))
    b = Side("b", tuple(slower(tmp_path / f"b{n}", 1 + n / 10) for n in range(3)))

    item = compare.compare(a, b).items[0]

    assert item.ci_ns is not None
    assert 1.7 * S < item.ci_ns[0] < 2 * S < item.ci_ns[1] < 2.3 * S
    assert not item.noise


def test_two_runs_give_no_interval(tmp_path: Path) -> None:
    """One run a side says nothing about the spread."""
    found = compared(*pair(tmp_path))

    assert {item.ci_ns for item in found.items} == {None}
    assert found.gap_ci_ns is None


@pytest.mark.parametrize(("import_s", "noise"), [(2.15, True), (2.5, False)])
def test_without_intervals_a_tenth_of_a_part_is_noise(tmp_path: Path, import_s: float, noise: bool) -> None:
    """2.15 s against 2 s may be chance; 2.5 s may not."""
    found = compared(slower(tmp_path / "a", import_s), runs.trained(tmp_path / "b"))

    assert found.items[0].noise is noise


def test_no_difference_beyond_noise_is_said_in_these_words(tmp_path: Path) -> None:
    """Two runs of the same thing give no story."""
    found = compared(slower(tmp_path / "a", 2.05), runs.trained(tmp_path / "b"))

    assert compare_text.verdict(found) == "a took 10.1 s, b 10.0 s: no difference beyond noise."


def test_the_verdict_names_the_slower_side_and_its_largest_part(tmp_path: Path) -> None:
    """Whichever side that is."""
    found = compared(runs.trained(tmp_path / "a"), slower(tmp_path / "b", 4))

    assert compare_text.verdict(found) == (
        "a took 10.0 s, b 12.0 s: b is 1.20 x slower than a, by 2.00 s, most of it in import (2.00 s)."
    )


def test_steps_are_one_item_where_one_side_has_no_window(tmp_path: Path) -> None:
    """A part that one side did not measure is no difference."""
    found = compared(runs.trained(tmp_path / "a", **runs.window(KERNELS)), runs.trained(tmp_path / "b"))

    assert "fit/steps" in {item.path for item in found.items}
    assert not any("kernels" in item.path for item in found.items)
    assert found.unsplit == "no kernel window was traced"


def test_layers_with_names_of_keras_own_are_joined_by_their_place(tmp_path: Path) -> None:
    """Keras 2 counts from dense_1, Keras 3 begins with dense."""
    model = {"layers": [{"name": "dense_1", "class": "Dense"}], "models": [], "optimizer": None}
    other = [{**KERNELS[0], "layer": "dense_1", "ms": 5}]
    a = runs.trained(tmp_path / "a", **runs.window(KERNELS))
    b = runs.trained(tmp_path / "b", spans=[runs.fit_span(model=model)], **runs.window(other))

    (layer,) = compared(a, b).layers

    assert (layer.layer, layer.a_ns, layer.b_ns) == ("dense", 5 * S // 2, 5 * S // 4)


def test_of_a_run_without_phases_wall_time_and_kernels_are_compared(tmp_path: Path) -> None:
    """The sentence says why there is no more."""
    probes = [
        {"name": "phases", "state": "failed", "reason": "the disk was full", "cost_ns": None, "cost_source": None}
    ]
    bare = runs.make(tmp_path / "r", probes=probes, **runs.window(KERNELS))

    found = compared(runs.trained(tmp_path / "a", **runs.window(KERNELS)), bare)

    assert found.parity.why_not == ("B has no phases: the disk was full",)
    assert (found.gap_ns, found.unattributed_ns) == (0, -10 * S)
    assert sum(item.delta_ns for item in found.items) == 10 * S
    assert [(one.layer, one.b_ns) for one in found.layers] == [("dense", 100 * MS)]


def test_a_run_without_a_wall_time_cannot_be_compared(tmp_path: Path) -> None:
    """Nothing is known of it."""
    with pytest.raises(UsageError, match="r cannot be compared: not even its wall time is known"):
        compared(runs.trained(tmp_path / "a"), runs.make(tmp_path / "r", runs.manifest(process={})))


def line(number: int, source: str, ms: int, hits: int = 1) -> dict[str, Any]:
    """A row of `lines` of train.py."""
    return {"file": "train.py", "function": "main", "first_line": 1, "line": number, "hits": hits,
            "time_ns": ms * MS, "source": source}  # fmt: skip


def test_lines_are_joined_by_their_text(tmp_path: Path) -> None:
    """A line that moved is still the same line; one that is new stands alone; equal ones keep their order."""
    a = runs.trained(tmp_path / "a", lines=[line(2, "f()", 30), line(3, "g()", 5), line(4, "g()", 7)])
    b = runs.trained(tmp_path / "b", lines=[line(5, "    f()", 10), line(6, "g()", 5), line(8, "h()", 1)])

    found = line_pairs.join([a], [b])

    told = {(one.line, one.source): (one.a_ns, one.b_ns) for one in found}
    assert told == {
        (2, "f()"): (30 * MS, 10 * MS), (3, "g()"): (5 * MS, 5 * MS), (4, "g()"): (7 * MS, None), (8, "h()"): (None, MS),
    }  # fmt: skip
    assert found[0].source == "f()"


def test_json_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    """And its items sum to the gap."""
    found = compared(slower(tmp_path / "a", 3), runs.trained(tmp_path / "b"))

    content = json.loads(json.dumps(plain(compare_json.as_json(found, []))))

    assert content["schema"] == "dlprof.compare/1"
    assert content["comparable"] is True
    assert content["gap_ns"] == S
    assert content["items"][0] == {
        "path": "import", "a_ns": 3 * S, "b_ns": 2 * S, "delta_ns": S, "ci_ns": None, "within_noise": False,
    }  # fmt: skip
    assert sum(item["delta_ns"] for item in content["items"]) + content["unattributed_ns"] == content["gap_ns"]


def test_the_command_takes_runs_repeats_and_several_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of runs is one side; commas join runs."""
    for n in range(3):
        slower(tmp_path / "slow" / f"{n}", 4 + n / 10)
        slower(tmp_path / "fast" / f"{n}", 2 + n / 10)
    fast = ",".join(str(tmp_path / "fast" / f"{n}") for n in range(3))

    assert runs.dlprof("compare", str(tmp_path / "slow"), fast, str(tmp_path / "slow" / "0"), "--json") == 0

    content = json.loads(capsys.readouterr().out)
    assert content["a"]["runs"] == ["0", "1", "2"]
    assert content["gap_ci_ns"] is not None
    assert [one["b"]["runs"] for one in content["more"]] == [["0"]]


def test_the_text_begins_with_what_makes_a_comparison_unfair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then come the figures all the same."""
    runs.trained(tmp_path / "a")
    runs.trained(tmp_path / "b", spans=[runs.fit_span(batch_size=64)])

    assert runs.dlprof("compare", str(tmp_path / "a"), str(tmp_path / "b"), "--plain") == 0

    out = capsys.readouterr().out
    assert out.index("Not comparable, because") < out.index("Where the gap comes from")
    assert "- the batch sizes differ: 128 and 64" in out


def test_one_run_alone_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A comparison needs two."""
    runs.trained(tmp_path / "a")

    assert runs.dlprof("compare", str(tmp_path / "a")) == 64
    assert "A comparison needs two runs." in capsys.readouterr().err


def test_losses_of_models_with_dropout_may_differ_more(tmp_path: Path) -> None:
    """Random numbers differ between backends: a quarter of the first epoch's loss, not a tenth."""
    model = {"layers": [{"name": "d", "class": "Dropout"}], "models": []}
    plain = parity.check(*pair(tmp_path, metrics=runs.losses(1.0, 0.7)))
    spans = [runs.fit_span(model=model)]
    a = runs.trained(tmp_path / "c", spans=spans)

    assert not plain.comparable
    assert parity.check(a, runs.trained(tmp_path / "d", spans=spans, metrics=runs.losses(1.0, 0.7))).comparable


def scaled(path: Path, factor: float, steps_factor: float) -> Run:
    """A run of which every part takes so much longer, and the steps as told."""
    seconds = {"startup": 2 * factor, "fit_steps": 5 * steps_factor, "fit_callbacks": factor, "teardown": 2 * factor}
    wall = round(sum(seconds.values()) * S)
    told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": wall})
    return runs.trained(path, told, phases=runs.phases(**seconds))


def test_a_machine_that_was_slower_is_no_cause(tmp_path: Path) -> None:
    """Everything took 1.2 x as long: no difference beyond noise."""
    found = compared(scaled(tmp_path / "a", 1.2, 1.2), scaled(tmp_path / "b", 1, 1))

    assert found.common == pytest.approx(1.2)
    assert found.noise
    assert all(item.noise for item in found.items)


def test_steps_that_take_twice_as_long_are_not_put_down_to_the_machine(tmp_path: Path) -> None:
    """Even where they are most of the run."""
    found = compared(scaled(tmp_path / "a", 1, 2), scaled(tmp_path / "b", 1, 1))

    assert not found.noise
    assert found.items[0].path == "fit/steps"
    assert not found.items[0].noise
