"""What dlprof itself costs."""

from __future__ import annotations

from pathlib import Path

from tests.unit.analysis.findings.cases import Planted, parts, pick, quiet, slugs
from tests.unit.runs import S, manifest


def planted() -> Planted:
    """A tenth of the run."""
    return Planted(quiet(phases=parts(dlprof=1, fit_steps=6, teardown=1)))


def test_dlprofs_own_share_is_named(tmp_path: Path) -> None:
    """A profiler that takes a tenth of the run says so."""
    found = pick(planted().diagnosis(tmp_path), "profiler-overhead")

    assert found.at_stake_ns == S
    assert found.next_step == "Trace a longer run, or leave out lines (--probes=-lines)."  # there was no kernel window


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
