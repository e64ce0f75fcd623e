"""What shows a run on the terminal while it goes on, as the launcher sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from dlprof.rundir import RunDir
from dlprof.schema.manifest import Probe


class Streams(Struct, frozen=True):
    """Descriptors that the traced process gets as its standard streams; None: dlprof's own."""

    input: int | None = None
    output: int | None = None
    error: int | None = None


STARTING = "starting"
"""State of a probe of which nothing is known yet."""


class Progress(Struct, frozen=True):
    """What the launcher knows while the script runs.

    Attributes:
        pid: The traced process.
        origin_ns: When it was started, on the run's clock.
        interrupts: How many times Ctrl-C came.
        probes: Each probe by name, as far as the launcher knows it; its state is a `ProbeState`, or `STARTING`.
    """

    pid: int
    origin_ns: int
    interrupts: int
    probes: Mapping[str, Probe]


class View(Protocol):
    """Shows a run. No failure of its own may come out of it: the run goes on without it."""

    def open(self, folder: RunDir) -> Streams:
        """The script is about to start; returns what it is to have as its standard streams."""

    def tick(self, folder: RunDir, progress: Progress) -> None:
        """Show what is new; called about ten times a second."""

    def helpers(self) -> tuple[int, ...]:
        """Processes of the view."""

    def close(self) -> Probe | None:
        """The script has ended, or could not be started; returns what became of the view, as of a probe."""
