"""What is done after a run is stored."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from dlprof.launch.process import Outcome
from dlprof.launch.recorded import Recorded
from dlprof.launch.replaced import Replaced
from dlprof.launch.stops import Stop
from dlprof.pipeline import last_manifest, storing
from dlprof.schema.manifest import Clock, GpuTracer, Manifest, Probe
from dlprof.schema.vocabulary import ProbeState
from tests.unit.runs import trained

OUTCOME = Outcome(0, None, 0, 1, 0, 0, 0, {}, killed=False)


def test_artifacts_of_some_size_are_packed(tmp_path: Path) -> None:
    """Stacks and traces in JSON; other files stay as they are."""
    run = trained(tmp_path / "r")
    window = run.folder.raw / "kernels" / "window-000"
    window.mkdir(parents=True)
    (window / "trace.json").write_text("[1]")
    (window / "other.bin").write_bytes(b"x")

    storing.pack(storing.Traced(OUTCOME, run))

    assert sorted(file.name for file in window.iterdir()) == ["other.bin", "trace.json.gz"]
    assert gzip.decompress((window / "trace.json.gz").read_bytes()) == b"[1]"


def test_a_run_that_was_not_stored_keeps_its_artifacts_as_they_are() -> None:
    """There is nothing to pack that is known to be readable."""
    storing.pack(storing.Traced(OUTCOME, None))


def test_a_probe_that_still_writes_has_ended_when_the_run_is_stored(tmp_path: Path) -> None:
    """What became of it is in the manifest, as of one that was over before."""
    run = trained(tmp_path / "r")
    waited: list[str] = []

    def last_probe() -> Probe:
        waited.append("stacks")
        return Probe(name="stacks", state=ProbeState.FAILED, reason="py-spy was killed")

    recorded = Recorded(OUTCOME, 7, Clock(origin_perf_ns=0), GpuTracer(name="off"), (), last_probe=last_probe)
    stored = storing.store(run.folder, replace(run.manifest, config={"keep_arguments": False}), recorded).run

    assert waited
    assert stored is not None
    assert [probe.reason for probe in stored.manifest.probes if probe.name == "stacks"] == ["py-spy was killed"]


def test_a_probe_that_still_writes_ends_though_the_run_cannot_be_stored(tmp_path: Path) -> None:
    """Nothing of dlprof's outlives it."""
    run = trained(tmp_path / "r")
    waited: list[str] = []

    def last_probe() -> Probe:
        waited.append("stacks")
        return Probe(name="stacks")

    recorded = Recorded(OUTCOME, 7, Clock(origin_perf_ns=0), GpuTracer(name="off"), (), last_probe=last_probe)
    stored = storing.store(run.folder, replace(run.manifest, config={}), recorded)

    assert (stored.run, waited) == (None, ["stacks"])


FIRST = Manifest(config={"keep_arguments": False})


def told(**changes: Any) -> list[tuple[str, str]]:
    """What the manifest of a run that ended so says of its health."""
    clock = Clock(origin_perf_ns=0)
    recorded = Recorded(replace(OUTCOME, **changes), 7, clock, GpuTracer(name="off"), ())
    return [(entry.slug, entry.message) for entry in last_manifest.of(FIRST, recorded).health]


def test_the_time_in_which_the_script_stood_is_told() -> None:
    """By which signals; of a stop that dlprof did not see that is not known."""
    stops = (Stop(1_000_000_000, 6_000_000_000, 20), Stop(8_000_000_000, 8_500_000_000, None))

    ((slug, text),) = told(stops=stops)

    assert slug == "script-stopped"
    assert text == (
        "The script was stopped for 5.5 s: 5.0 s by SIGTSTP, from 1.0 s on; 0.5 s by SIGSTOP or SIGTSTP, from 8.0 s "
        "on. The wall time, and the phases and steps in which it stood, have that time in them."
    )


def test_of_many_stops_the_first_are_told() -> None:
    """And how many more there were; the sum is that of all."""
    stops = tuple(Stop(number * 10**9, number * 10**9 + 500_000_000, 19) for number in range(8))

    ((_slug, text),) = told(stops=stops)

    assert text.startswith("The script was stopped for 4.0 s: ")
    assert "from 4.0 s on; and 3 times more." in text


def test_a_script_that_replaced_itself_is_told_of() -> None:
    """And what of the report is not about it."""
    ((slug, text),) = told(replaced=Replaced("/usr/bin/make", 4_200_000_000))

    assert slug == "script-replaced"
    assert text.startswith("The script replaced itself by /usr/bin/make (exec), seen at 4.2 s.")


def test_a_script_that_ran_through_has_nothing_of_the_kind() -> None:
    """It stood for no time, which was measured."""
    recorded = Recorded(OUTCOME, 7, Clock(origin_perf_ns=0), GpuTracer(name="off"), ())

    manifest = last_manifest.of(FIRST, recorded)

    assert (manifest.health, manifest.process.stopped_ns, manifest.process.replaced_by) == ((), 0, None)
