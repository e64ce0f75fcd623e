"""What became of each probe in the end, decided once, from all that is known; ledger, health and manifest say this.

Evidence comes from two sides: what was seen of the helpers while the script ran (`launch`: exit codes, signals, a full
disk, what they said themselves) is in the manifest; what their artifacts show is told by the readers (`Cut`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from msgspec.structs import replace

from dlprof.ingest.artifact import Health
from dlprof.schema.manifest import Manifest, Probe, Unrecorded
from dlprof.schema.vocabulary import PROBE_CUT, ProbeState, RunState, Severity, StreamEnd
from dlprof.units import duration

_WHAT: Mapping[str, str] = MappingProxyType(
    {
        "phases": "phases and steps",
        "lines": "counts of lines",
        "stacks": "sampled stacks",
        "kernels": "kernel windows",
        "cores": "samples of cores and processes",
        "gpu": "samples of GPUs",
        "live": "the live view",
    }
)
"""What a probe leaves, for sentences."""
_SLUGS: Mapping[str, str] = MappingProxyType(
    {"phases": PROBE_CUT, "stacks": "stacks-lost", "cores": "cores-cut", "gpu": "gpu-cut"}
)
"""Of their health lines; others are `NAME-failed`."""
_SAVED_AT_END = "lines"
"""A probe whose figures wait in the process until it ends in order."""


@dataclass(frozen=True)
class Cut:
    """An artifact that is not whole.

    Attributes:
        reason: Why, as a clause; None: the artifact does not tell.
        since_ns: The last moment that it tells of, on the run's timeline; None: it holds nothing.
        is_damage: It was written, and cannot be read.
    """

    reason: str | None
    since_ns: int | None = None
    is_damage: bool = False


def settled(probe: Probe, cut: Cut | None, manifest: Manifest) -> Probe:
    """What became of a probe.

    Args:
        probe: As far as it was known when the run was over, and by what the process told.
        cut: What its artifact shows; None: it is whole, or there is none.
        manifest: How the run ended.
    """
    if probe.name == "phases" and manifest.unrecorded is not None:
        return _settled_phases(probe, manifest.unrecorded)
    if cut is None or probe.state in (ProbeState.OFF, ProbeState.UNAVAILABLE):
        return probe
    if probe.state == ProbeState.FAILED and probe.reason and not cut.is_damage:
        return probe
    return replace(probe, state=ProbeState.FAILED, reason=cut.reason or _ended_early(manifest))


def _settled_phases(probe: Probe, unrecorded: Unrecorded) -> Probe:
    """A probe whose process was ended has not failed."""
    ended = unrecorded.cause in (StreamEnd.KILLED, StreamEnd.LEFT, StreamEnd.UNSEEN, StreamEnd.WENT_ON)
    return replace(probe, state=ProbeState.ON if ended else ProbeState.FAILED, reason=unrecorded.reason)


def _ended_early(manifest: Manifest) -> str:
    return "dlprof was killed" if manifest.state == RunState.RUNNING else "the sampler ended early, and did not say why"


def said(probe: Probe, cut: Cut | None, manifest: Manifest) -> Iterator[Health]:
    """The line of the health section on a probe; none where it did what it could.

    Args:
        probe: As it was settled.
        cut: What its artifact shows.
        manifest: How the run ended.
    """
    slug = _SLUGS.get(probe.name, f"{probe.name}-failed")
    if probe.name == "phases" and manifest.unrecorded is not None:
        yield Health(slug, Severity.WARNING, sentence(manifest.unrecorded))
    elif probe.state == ProbeState.FAILED:
        yield Health(slug, Severity.WARNING, _sentence(probe, cut))


def _sentence(probe: Probe, cut: Cut | None) -> str:
    what = _WHAT.get(probe.name, probe.name)
    because = probe.reason or "nobody knows why"
    if probe.name == "live":
        return f"The live view ended early, because {because}."
    if cut is not None and cut.since_ns is not None:
        return f"{what[0].upper()}{what[1:]} end at {duration(cut.since_ns)}, because {because}."
    return f"{what[0].upper()}{what[1:]} are missing, or some of them, because {because}."


def sentence(unrecorded: Unrecorded) -> str:
    """What was not recorded, and why."""
    share = f"{100 * unrecorded.share:.1f}".removesuffix(".0")
    when = f"{duration(unrecorded.dur_ns)} from {duration(unrecorded.since_ns)} on"
    return f"{share} % of the run was not recorded ({when}), because {unrecorded.reason}."


def of_missing(name: str, manifest: Manifest) -> Cut | None:
    """What it means that a probe that worked has left no artifact; None: it need not leave one."""
    if name == _SAVED_AT_END and manifest.unrecorded is not None:
        return Cut(f"they are saved at the end, and {manifest.unrecorded.reason}")
    if name == "kernels":
        return None
    if manifest.state == RunState.RUNNING:
        return Cut(None)
    return Cut("their file is not in raw/")
