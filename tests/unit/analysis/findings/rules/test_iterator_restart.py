"""Pipelines of TensorFlow that are taken down after each epoch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, Tables, cpu, diagnosed, on, parts, pick, quiet, sampled, slugs
from tests.unit.runs import MS, S


def planted() -> Planted:
    """Three waits of half a second before an epoch, in which the process used no core."""
    return Planted(epochs_with_waits(2.0), on("tensorflow"))


def epochs_with_waits(cpu_pct: float) -> Tables:
    """Four epochs of 50 steps on TensorFlow, before three of which the training waits for 0.5 s."""
    rows = [
        {
            **row,
            "epoch": epoch,
            "start_ns": row["start_ns"] + int(epoch * 1.5 * S),
            "input_ns": S // 2 * (n == 0 < epoch),
        }
        for epoch in range(4)
        for n, row in enumerate(runs.steps(50))
    ]
    used = [
        {"time_ns": n * S // 10, "interval_ns": S // 10, "cpu_pct": cpu_pct, "rss_bytes": S, "threads": 3}
        for n in range(1, 100)
    ]
    return quiet(
        phases=parts(fit_steps=4.5, fit_input=1.5, teardown=2),
        steps=rows,
        process_samples=used,
        epochs=[{"loop_id": 1, "epoch": n, "start_ns": 0, "dur_ns": S, "steps": 50} for n in range(4)],
    )


def test_idle_waits_before_epochs_are_a_restart_of_the_pipeline(tmp_path: Path) -> None:
    """Three of half a second, in which the process used no core."""
    finding = pick(planted().diagnosis(tmp_path), "iterator-restart")

    assert (finding.at_stake_ns, finding.file, finding.line) == (1_500 * MS, "train.py", 7)
    assert finding.claim.startswith("Before 3 of 4 epochs the process did nothing")
    assert finding.remedy is not None
    assert finding.remedy.overrides == {"autotune": False}


def test_busy_waits_before_epochs_are_input(tmp_path: Path) -> None:
    """A pipeline that fills its buffers works meanwhile."""
    assert "iterator-restart" not in slugs(diagnosed(tmp_path / "r", on("tensorflow"), **epochs_with_waits(95.0)))


def test_waits_that_share_their_samples_with_steps_are_told_together(tmp_path: Path) -> None:
    """Three samples of a second, half of each a wait: the process used its core in the other half, as it usually does."""
    tables = epochs_with_waits(2.0)
    begins = [row["start_ns"] - row["input_ns"] for row in tables["steps"] if row["input_ns"]]
    used = [(begin + S, S, 50.0) for begin in begins] + [(9 * S + n, 1, 100.0) for n in range(3)]
    tables["process_samples"] = [
        {"time_ns": at, "interval_ns": length, "cpu_pct": pct, "rss_bytes": S, "threads": 3} for at, length, pct in used
    ]
    finding = pick(diagnosed(tmp_path / "r", on("tensorflow"), **tables), "iterator-restart")

    assert finding.at_stake_ns == 1_500 * MS


def test_waits_in_which_other_programs_had_the_cores_may_be_work(tmp_path: Path) -> None:
    """False before: what had a core for 10 % of the time in which it could run did nothing, by the cores it used."""
    tables = epochs_with_waits(8.0)
    scheduled = {"run_ns": 0, "wait_ns": 0}, {"run_ns": S, "wait_ns": 9 * S}
    for at, counters in zip((20, 80), scheduled, strict=True):
        tables["process_samples"][at - 1].update({"pid": 42, **counters})
    tables["machine"] = cpu(others=190.0)["machine"]

    assert "iterator-restart" not in slugs(diagnosed(tmp_path / "r", on("tensorflow"), **tables))


def test_a_loop_of_the_scripts_own_drops_its_iterator_before_it_waits_for_a_batch(tmp_path: Path) -> None:
    """Three gaps of half a second between steps, of which nothing is a wait for a batch; silence before."""
    tables = epochs_with_waits(2.0)
    tables["steps"] = [{**row, "input_ns": 0} for row in tables["steps"]]
    own = {**runs.fit_span(), "detail": json.dumps({"how": "inferred"})}
    told = {**on("tensorflow"), "keras": None}
    finding = pick(diagnosed(tmp_path / "r", told, **{**tables, "spans": [own]}), "iterator-restart")

    assert (finding.at_stake_ns, finding.line, finding.remedy) == (1_500 * MS, 7, None)
    assert "options.autotune.enabled = False" in str(finding.fix)


def behind_a_loop(cpu_pct: float, line: int = 7, steps_s: float = 6) -> Tables:
    """Steps of a loop of the script's own at line 7, and 2 s behind them in which the main thread stands at a line."""
    used = [
        {
            "time_ns": n * S // 10,
            "interval_ns": S // 10,
            "cpu_pct": cpu_pct if n > 80 else 95.0,
            "rss_bytes": S,
            "threads": 3,
        }
        for n in range(1, 100)
    ]
    intervals = runs.intervals(("import", 0, 2), ("fit.steps", 2, 2 + steps_s), ("script", 2 + steps_s, 10))
    return quiet(
        phases=parts(fit_steps=steps_s, script=8 - steps_s),
        phase_intervals=intervals,
        spans=[runs.fit_span()],
        process_samples=used,
        **sampled((2 + steps_s, 10, [("<module>", "train.py", line)])),
    )


OWN = {**on("tensorflow"), "keras": None}


def test_a_loop_that_stands_in_its_line_behind_its_last_step_waits_for_its_pipeline(tmp_path: Path) -> None:
    """It is time of the script, in which the process uses no core."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **behind_a_loop(0.0)), "iterator-restart")

    assert finding.at_stake_ns == 2 * S
    assert (finding.heading, finding.line) == ("TensorFlow stood still behind the loop", 7)
    assert finding.claim.startswith("Behind the training loop the process did nothing")


@pytest.mark.parametrize(
    "tables", [behind_a_loop(95.0), behind_a_loop(0.0, line=9)], ids=["it works", "it stands in another line"]
)
def test_what_else_is_behind_a_loop_is_no_pipeline(tables: Tables, tmp_path: Path) -> None:
    """Nothing is said."""
    assert "iterator-restart" not in slugs(diagnosed(tmp_path / "r", OWN, **tables))
