"""Figures of a run for Prometheus, read by its own parser."""

from __future__ import annotations

import io
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from dlprof.export import prometheus
from dlprof.store.run import Run
from tests.unit.export.run_of_everything import HOSTILE, whole
from tests.unit.runs import make, manifest, trained


def text(run: Run) -> str:
    """What is written."""
    out = io.BytesIO()
    prometheus.write(run, out)
    return out.getvalue().decode()


def samples(run: Run) -> dict[tuple[str, str], float]:
    """(metric, the label of its own) to its value."""
    families = text_string_to_metric_families(text(run))
    own = ("phase", "loop", "finding")
    return {
        (one.name, next((one.labels[name] for name in own if name in one.labels), "")): one.value
        for family in families
        for one in family.samples
        if one.labels.get("quantile") != "0.95"
    }


def test_times_are_seconds_with_the_labels_of_the_run(tmp_path: Path) -> None:
    """Phases, steps, the whole."""
    found = samples(trained(tmp_path / "r"))

    assert found["dlprof_run_wall_seconds", ""] == 10.0
    assert found["dlprof_phase_seconds", "fit.steps"] == 5.0
    assert found["dlprof_step_seconds", "train"] == 0.02
    assert (found["dlprof_steps", "train"], found["dlprof_samples_per_second", "train"]) == (250, 6400)
    assert (found["dlprof_run_exit_code", ""], found["dlprof_run_timestamp_seconds", ""]) == (0, 1795255200)
    assert 'dlprof_run_wall_seconds{script="train.py",backend="torch",host="h"} 10.0\n' in text(
        trained(tmp_path / "again")
    )


def test_what_was_not_measured_has_no_sample(tmp_path: Path) -> None:
    """Never 0."""
    found = samples(make(tmp_path / "r", manifest(process={"pid": 42})))

    assert {name for name, _ in found} == {"dlprof_run_timestamp_seconds"}


def test_labels_that_are_out_to_do_harm_stay_labels(tmp_path: Path) -> None:
    """No line of its own, no other metric."""
    told = manifest(command={"script": HOSTILE, "module": None, "program": None, "argv": []})
    run = whole(tmp_path / "r", told)

    (family,) = (one for one in text_string_to_metric_families(text(run)) if one.name == "dlprof_run_wall_seconds")

    (sample,) = family.samples
    assert sample.labels["script"] == "=<script>alert('1')</script>|\"\\�[31m��*é😀"
