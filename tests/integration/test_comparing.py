"""Comparison, diagnosis, trials and the gate on real trainings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.trials.exam import examine, runs, truths
from dlprof.trials.exam.truths import Truth
from tests.integration import runner

pytestmark = pytest.mark.integration
OF_THE_MACHINE = {"cpu-contention", "cpu-throttled"}
SMALL = ("--", "--samples", "2048", "--epochs", "2", "--no-dropout")


def asked(folder: Path, *arguments: str) -> Any:
    """A command of dlprof with --json."""
    done = runner.run([*runner.DLPROF, *arguments, "--json"], cwd=folder)
    assert done.code == 0, done.err
    return json.loads(done.out)


def traced(folder: Path, scenario: Path, backend: str, *flags: str) -> None:
    """A run of a scenario, in a folder with the backend's name."""
    done = runner.run(
        [*runner.DLPROF, "trace", str(scenario), "--backend", backend, "-o", backend, "--no-report", *flags, *SMALL],
        cwd=folder,
    )
    assert done.code == 0, done.err


@pytest.mark.backend("torch")
@pytest.mark.backend("mxnet")
@pytest.mark.backend("tensorflow")
@pytest.mark.backend("jax")
def test_backends_on_the_mlp_are_comparable_and_the_gap_adds_up(tmp_path: Path, scenarios: Path) -> None:
    """Same data, weights and losses; the items sum to the gap on every pair."""
    names = ("mxnet", "torch", "tensorflow", "jax")
    for name in names:
        traced(tmp_path, scenarios / "mlp.py", name)

    found = asked(tmp_path, "compare", *names)

    for pair in (found, *found["more"]):
        assert pair["comparable"], pair["why_not"]
        assert sum(item["delta_ns"] for item in pair["items"]) + pair["unattributed_ns"] == pair["gap_ns"]
        assert {"fit/steps/kernels/matmul", "import"} <= {item["path"] for item in pair["items"]}
        assert {"dense_1", "dense_2", "dense_3"} <= {layer["layer"] for layer in pair["layers"]}


@pytest.mark.measured
@pytest.mark.backend("torch")
def test_a_remedy_is_tried_and_what_it_saves_is_measured(tmp_path: Path, scenarios: Path) -> None:
    """The switch for debugging that the script sets is off in the trial, and its time is gone."""
    script = runner.write(
        tmp_path,
        "train.py",
        f"""\
        import sys
        sys.path.insert(0, {str(scenarios)!r})
        import torch
        torch.autograd.set_detect_anomaly(True)
        sys.argv[1:] = ["--samples", "4096", "--batch-size", "32", "--epochs", "4"]
        import mlp
        mlp.main()
        """,
    )
    assert runner.trace(script.name, "--backend", "torch", cwd=tmp_path).code == 0

    found = asked(tmp_path, "diagnose", "run", "--confirm", "--yes", "--repeat", "1")

    finding = next(one for one in found["findings"] if one["slug"] == "debug-mode")
    assert finding["state"] in ("confirmed", "partly", "refuted")
    assert finding["saving_ns"]["achieved"] is not None
    trial = runner.report(tmp_path, "run/confirm/debug-mode-001")
    assert trial["exit"]["code"] == 0
    flags = runner.sql(tmp_path, "SELECT detail FROM spans WHERE kind = 'fit'", "run/confirm/debug-mode-001")
    assert json.loads(flags[0]["detail"])["training"]["flags"] == {}


@pytest.mark.backend("jax")
def test_settings_are_tried_on_a_training(tmp_path: Path, scenarios: Path) -> None:
    """A batch of twice the rows is taken, makes half the steps, and its time, memory and loss are known."""
    traced(tmp_path, scenarios / "mlp.py", "jax")

    (change,) = asked(tmp_path, "try", "jax", "--set", "batch_size=256", "--repeat", "1", "--yes")["changes"]

    assert change["taken"] == {"batch_size": True}
    assert change["failed"] is None
    figures = {one["name"]: one for one in change["measures"]}
    assert [name for name, one in figures.items() if one["before"] is None or one["after"] is None] == []
    assert figures["loss"]["after"] > figures["loss"]["before"]
    steps = "SELECT count(*) n FROM steps WHERE loop = 'train'"
    counts = [runner.sql(tmp_path, steps, f"jax/confirm/try/{name}") for name in ("as-it-was-001", "change-1-001")]
    assert counts == [[{"n": 32}], [{"n": 16}]]


@pytest.mark.measured
@pytest.mark.backend("mxnet")
def test_repeats_of_the_same_thing_pass_the_gate(tmp_path: Path, scenarios: Path) -> None:
    """Two folders of three runs; a limit that no noise of a shared machine reaches."""
    for name in ("base", "new"):
        done = runner.run(
            [
                *runner.DLPROF,
                "trace",
                str(scenarios / "mlp.py"),
                "--backend",
                "mxnet",
                "--repeat",
                "3",
                "-o",
                name,
                *SMALL,
            ],
            cwd=tmp_path,
        )
        assert done.code == 0, done.err
        assert f"3 runs in {name}" in done.err

    done = runner.run([*runner.DLPROF, "gate", "base", "new", "--max-regression", "300%"], cwd=tmp_path)

    assert done.code == 0, done.out
    assert done.out.startswith("dlprof gate: ok")


def planted(scenarios: Path, name: str, backend: str) -> Truth:
    """A cause of the exam; `dlprof exam` sits all of them."""
    (truth,) = (one for one in truths.load(scenarios / "faults", only=[name]) if one.backend == backend)
    return truth


@pytest.mark.measured
@pytest.mark.parametrize(
    ("name", "backend"),
    [
        pytest.param("slow_logger", "torch", marks=pytest.mark.backend("torch")),
        pytest.param("eager", "tensorflow", marks=pytest.mark.backend("tensorflow")),
        pytest.param("checkpoint_epochs", "mxnet", marks=pytest.mark.backend("mxnet")),
    ],
)
def test_a_planted_cause_is_found_first(tmp_path: Path, scenarios: Path, name: str, backend: str) -> None:
    """Other programs on the machine may be a greater cause, rightly: only causes in the training are ranked here."""
    truth = planted(scenarios, name, backend)

    faulty = runs.made(truth, tmp_path, "diagnosed-001", faulty=True)

    found = [one.slug for one in diagnose.diagnose(faulty).findings if one.slug not in OF_THE_MACHINE]
    assert found[0] in (truth.slug, *truth.also), found


@pytest.mark.measured
@pytest.mark.backend("jax")
def test_a_cause_is_examined_with_what_it_costs(tmp_path: Path, scenarios: Path) -> None:
    """By a run without it beside the one that is diagnosed."""
    truth = planted(scenarios, "ragged_jax", "jax")

    (answer,) = examine.examine([truth], tmp_path, lambda _line: None, pairs=0, repeats=1).answers

    assert answer.failed is None
    assert answer.rank is not None, answer.found
    assert set(answer.found[: answer.rank - 1]) <= OF_THE_MACHINE, answer.found
    assert answer.cost_ns is not None
