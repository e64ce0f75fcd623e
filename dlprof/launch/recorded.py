"""What the launcher knows of a traced run when it is over: how it ended, its clock, and what became of each probe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from dlprof_probes.sidecar import jsonl
from msgspec import Struct
from msgspec.structs import replace

from dlprof.config import PROBES, TraceConfig
from dlprof.launch.process import Outcome
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Anchor, Clock, GpuTracer, Probe
from dlprof.schema.process_config import ChildFacts
from dlprof.schema.vocabulary import ProbeState

LastProbe = Callable[[], Probe]


class Recorded(Struct, frozen=True):
    """A traced run that is over.

    Attributes:
        outcome: How it ended.
        pid: The traced process.
        clock: The run's clock against the wall clock.
        gpu_tracer: What traced GPUs, and why that.
        probes: What became of each probe, as far as it is known outside of the traced process.
        children: Pythons below it that were followed.
        pythons: How many Pythons below it were seen to begin.
        not_followed: How many of those loaded an engine and were not followed, for there were too many.
        last_probe: Waits for the probe that still writes what it has, and gives what became of it; to be called, once
            or more, by whoever has the run. None: there is none.
    """

    outcome: Outcome
    pid: int
    clock: Clock
    gpu_tracer: GpuTracer
    probes: tuple[Probe, ...]
    children: tuple[Child, ...] = ()
    pythons: int = 0
    not_followed: int = 0
    last_probe: LastProbe | None = None


@dataclass
class Child:
    """A Python below the program that was followed.

    Attributes:
        folder: Its run folder.
        facts: What it says of itself.
        recorded: What was recorded, once the program is over.
        went_on: Whether it still ran when the program was over.
        replaced: Whether its process went on as another program (`exec`).
    """

    folder: RunDir
    facts: ChildFacts
    recorded: Recorded | None = None
    went_on: bool = False
    replaced: bool = False


class ProbeStates:
    """What became of each probe: a `Probe` by name. One of which nothing was said is on."""

    def __init__(self, probes: Mapping[str, Probe] | None = None) -> None:
        self._by_name: dict[str, Probe] = dict(probes or {})

    @classmethod
    def of(cls, config: TraceConfig) -> ProbeStates:
        """Those of a run before it begins: the probes that nobody asked for are off."""
        states = cls()
        for name in PROBES:
            if not config.wants(name):
                states.note(name, ProbeState.OFF, "not asked for")
        return states

    def note(self, name: str, state: ProbeState, reason: str | None = None) -> None:
        """A probe is in this state now, whatever was known of it before."""
        self._by_name[name] = Probe(name=name, state=state, reason=reason)

    def put(self, probe: Probe) -> None:
        """This is what became of the probe."""
        self._by_name[probe.name] = probe

    def update(self, name: str, **changes: Any) -> None:
        """Some of what is known of a probe has changed: fields of `Probe`."""
        self._by_name[name] = replace(self.get(name) or Probe(name=name), **changes)

    def get(self, name: str) -> Probe | None:
        """What is known of a probe; None: nothing was said."""
        return self._by_name.get(name)

    def wants(self, name: str) -> bool:
        """Whether a probe was asked for; one of which nothing was said was."""
        probe = self.get(name)
        return probe is None or probe.state != ProbeState.OFF

    def __iter__(self) -> Iterator[Probe]:
        return iter(self._by_name.values())

    def all_probes(self) -> tuple[Probe, ...]:
        """Every probe that there is, in the order of reports, and what else was noted."""
        names = dict.fromkeys((*PROBES, *self._by_name))
        return tuple(self._by_name.get(name) or Probe(name=name) for name in names)


def read_anchor() -> Anchor:
    """The run's clock and the wall clock, read at one moment."""
    return msgspec.convert(jsonl.anchor(), Anchor)


def clock_between(start: Anchor, end: Anchor, origin_perf_ns: int) -> Clock:
    """The run's clock against the wall clock, by two anchors.

    Args:
        start: Taken before the process was started.
        end: Taken after it ended.
        origin_perf_ns: The run's zero on CLOCK_MONOTONIC (ns).
    """
    return Clock(
        origin_perf_ns=origin_perf_ns,
        origin_wall_ns=start.wall_ns + origin_perf_ns - start.perf_ns,
        anchor_start=start,
        anchor_end=end,
        error_ns=max(start.width_ns, end.width_ns) // 2,
        wall_drift_ns=(end.wall_ns - start.wall_ns) - (end.perf_ns - start.perf_ns),
    )
