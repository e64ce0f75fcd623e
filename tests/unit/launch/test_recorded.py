"""What the launcher knows of a run that is over."""

from __future__ import annotations

from dlprof.config import PROBES, TraceConfig
from dlprof.launch.recorded import ProbeStates, clock_between
from dlprof.schema.manifest import Anchor, Probe
from dlprof.schema.vocabulary import ProbeState


def test_probes_that_nobody_asked_for_are_off() -> None:
    """The others are on, until something else is said."""
    states = ProbeStates.of(TraceConfig(probes=("phases", "cores")))

    assert [(probe.name, probe.state) for probe in states.all_probes()] == [
        ("phases", "on"),
        ("lines", "off"),
        ("stacks", "off"),
        ("kernels", "off"),
        ("cores", "on"),
        ("gpu", "off"),
    ]


def test_a_tracer_of_kernels_that_is_switched_off_is_off() -> None:
    """`--kernels off` leaves the probe out."""
    assert ProbeStates.of(TraceConfig(kernels="off")).get("kernels") == Probe(
        name="kernels", state="off", reason="not asked for"
    )


def test_what_is_noted_last_counts() -> None:
    """With nothing of what was known before."""
    states = ProbeStates()
    states.put(Probe(name="stacks", state="on", cost_ns=5))

    states.note("stacks", ProbeState.FAILED, "it was killed")

    assert states.get("stacks") == Probe(name="stacks", state="failed", reason="it was killed")


def test_some_of_what_is_known_of_a_probe_can_change() -> None:
    """The rest stays; a probe of which nothing was said is on."""
    states = ProbeStates({"cores": Probe(name="cores", state="failed", reason="no /proc")})

    states.update("cores", cost_ns=7)
    states.update("gpu", cost_ns=8)

    assert (states.get("cores"), states.get("gpu")) == (
        Probe(name="cores", state="failed", reason="no /proc", cost_ns=7),
        Probe(name="gpu", state="on", cost_ns=8),
    )


def test_what_is_no_probe_comes_last() -> None:
    """The live view has a line in the ledger, too."""
    states = ProbeStates()
    states.put(Probe(name="live", cost_ns=1))

    assert [probe.name for probe in states.all_probes()] == [*PROBES, "live"]


def test_the_clock_is_the_runs_against_the_wall_clock() -> None:
    """Its zero is 50 ns after the first anchor; meanwhile the wall clock was set forward by 7 ns."""
    clock = clock_between(
        Anchor(perf_ns=1_000, wall_ns=50_000, width_ns=20), Anchor(perf_ns=9_000, wall_ns=58_007, width_ns=60), 1_050
    )

    assert (clock.origin_perf_ns, clock.origin_wall_ns) == (1_050, 50_050)
    assert (clock.error_ns, clock.wall_drift_ns) == (30, 7)
