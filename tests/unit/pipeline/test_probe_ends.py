"""What became of a probe: once decided, and once said."""

from __future__ import annotations

import pytest

from dlprof.pipeline import probe_ends
from dlprof.pipeline.probe_ends import Cut
from dlprof.schema.manifest import Manifest, Probe, Unrecorded
from dlprof.schema.vocabulary import RunState
from tests.unit.raw_runs import S, manifest

CUT = Cut(None, since_ns=3 * S)
KILLED = "the sampler was killed by signal 9"
END = Unrecorded(since_ns=4 * S, dur_ns=6 * S, cause="killed", reason="the process was ended by signal 9")


def told(probe: Probe, cut: Cut | None, run: Manifest) -> tuple[str, str | None, list[tuple[str, str]]]:
    """State and reason, and the lines of the health section."""
    found = probe_ends.settled(probe, cut, run)
    return found.state, found.reason, [(line.slug, line.message) for line in probe_ends.said(found, cut, run)]


def test_a_whole_artifact_of_a_probe_that_worked_needs_no_word() -> None:
    """Nor does a probe that nobody asked for, or that was not to be had."""
    assert told(Probe(name="cores"), None, manifest()) == ("on", None, [])
    for state in ("off", "unavailable"):
        assert told(Probe(name="gpu", state=state, reason="x"), CUT, manifest()) == (state, "x", [])


def test_what_was_seen_of_the_helper_is_the_reason() -> None:
    """Its artifact says until when there are samples."""
    probe = Probe(name="cores", state="failed", reason=KILLED)
    line = f"Samples of cores and processes end at 3.00 s, because {KILLED}."

    assert told(probe, CUT, manifest()) == ("failed", KILLED, [("cores-cut", line)])


def test_a_cut_artifact_of_a_helper_of_which_nothing_was_seen_is_a_failure() -> None:
    """With the reason that there is."""
    early = "the sampler ended early, and did not say why"
    assert told(Probe(name="cores"), CUT, manifest())[:2] == ("failed", early)
    assert told(Probe(name="cores"), CUT, manifest(state=RunState.RUNNING))[:2] == ("failed", "dlprof was killed")


def test_damage_is_told_before_anything_else() -> None:
    """Whatever was known when it was written."""
    damage = Cut("raw/gpu.jsonl: damaged row", is_damage=True)
    probe = Probe(name="gpu", state="failed", reason=KILLED)

    assert told(probe, damage, manifest())[:2] == ("failed", "raw/gpu.jsonl: damaged row")


@pytest.mark.parametrize(("cause", "state"), [("killed", "on"), ("left", "on"), ("disk-full", "failed")])
def test_a_probe_whose_process_was_ended_has_not_failed(cause: str, state: str) -> None:
    """One that could write no more has; both say what was not recorded."""
    run = manifest(unrecorded=Unrecorded(since_ns=4 * S, dur_ns=6 * S, cause=cause, reason="x"))
    line = "60 % of the run was not recorded (6.00 s from 4.00 s on), because x."

    assert told(Probe(name="phases"), None, run) == (state, "x", [("inproc-cut", line)])


def test_lines_that_waited_for_the_end_are_lost_with_it() -> None:
    """Kernels need not be there; of anything else the file is missing."""
    run = manifest(unrecorded=END)
    assert probe_ends.of_missing("lines", run) == Cut(
        "they are saved at the end, and the process was ended by signal 9"
    )
    assert probe_ends.of_missing("kernels", run) is None
    assert probe_ends.of_missing("cores", run) == Cut("their file is not in raw/")
