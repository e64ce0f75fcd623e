"""What dlprof itself costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Planted, diagnosed, parts, pick, quiet, slugs
from tests.unit.runs import S, manifest


def planted() -> Planted:
    """A tenth of the run."""
    return Planted(quiet(phases=parts(dlprof=1, fit_steps=6, teardown=1)))


def test_dlprofs_own_share_is_named(tmp_path: Path) -> None:
    """A profiler that takes a tenth of the run says so."""
    found = pick(planted().diagnosis(tmp_path), "profiler-overhead")

    assert found.at_stake_ns == S
    assert found.next_step == "Trace a longer run, or leave out lines (--probes=-lines)."  # there was no kernel window
    assert found.interval_ns is None  # measured as it is, and no cause in a script that others would be like


def test_lines_that_took_most_are_what_to_leave_out(tmp_path: Path) -> None:
    """False before: kernel windows were, as soon as there was one, however little it took."""
    slower = runs.window([KERNELS[0]], dur_ms=11)
    tables = {**planted().tables, **slower, "probes": [{"name": "lines", "state": "on", "tax_ns": S}]}
    exact = manifest(config={"python": None, "lines": ["exact"]})

    found = [Planted(tables, how).diagnosis(tmp_path / str(how is None)) for how in (None, exact)]

    assert [pick(one, "profiler-overhead").next_step for one in found] == [
        "Trace a longer run, or leave out lines (--probes=-lines).",
        "Leave exact out of --lines: where lines are hot they are then counted in windows, within the budget.",
    ]


def test_nothing_is_said_of_a_script_that_failed(tmp_path: Path) -> None:
    """It is to be mended; no setting of dlprof makes it longer."""
    process = {"pid": 42, "exit_code": 1, "signal": None, "wall_ns": 10 * S}
    failed = Planted(planted().tables, manifest(process=process))

    assert "profiler-overhead" not in slugs(failed.diagnosis(tmp_path))


def test_it_is_told_behind_causes_of_the_script(tmp_path: Path) -> None:
    """Even where it costs more than these: half a second of collections, and a second of ours."""
    collected = [{"start_ns": 3 * S, "dur_ns": S // 2, "generation": 2, "collected": 9}]

    assert slugs(planted().changed(lambda tables: {**tables, "gc": collected}).diagnosis(tmp_path))[-1] == (
        "profiler-overhead"
    )


@pytest.mark.parametrize(("others", "said"), [(80.0, False), (5.0, True)])
def test_a_window_that_others_disturbed_tells_nothing_of_the_tracer(tmp_path: Path, others: float, said: bool) -> None:
    """False before: 40 % of a run, while another program had a core. Its steps took 20 ms, the others 5."""
    traced = runs.steps(100, start_s=3, dur_ms=20)
    tables = quiet(steps=[*runs.steps(200, dur_ms=5), *traced, *runs.steps(600, start_s=5, dur_ms=5)])
    tables["machine"] = [
        {"time_ns": 3 * S + S // 2, "interval_ns": S, "cpu_pct": 100.0, "others_cpu_pct": others, "dlprof_cpu_pct": 1.0}
    ]
    tables = {**tables, **runs.window([KERNELS[0]], count=100)}

    assert ("profiler-overhead" in slugs(diagnosed(tmp_path / "r", **tables))) == said
