"""Whether a run was ended for want of memory, and how that is known."""

from __future__ import annotations

import signal
from dataclasses import dataclass

import pyarrow.compute as pc

from dlprof.analysis.columns import integers
from dlprof.analysis.memory import Limits, limits
from dlprof.schema.vocabulary import SpanKind
from dlprof.store.run import Run

_NEAR = 0.9
"""From this share of a limit on it is near."""
_LITTLE = 0.05
"""Of the machine's memory: so little is none."""
_ABORTED = frozenset({signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS})
"""What ends a program whose C++ cannot have memory."""
_SHELLS = 128
"""A shell ends with this and the signal that ended its program."""
_LAST_NS = 5_000_000_000


@dataclass(frozen=True)
class MemoryEnd:
    """How memory ended a run.

    Attributes:
        how: A clause: what was seen.
        time_ns: When; None: at the end of the run.
        file, line: The user's line that the exception came from; None: there is none.
        limit: What it came up against: `address space`, `control group`, `machine`; None: not known.
        limit_bytes: How much that is.
        used_bytes: The most of it that was seen in use.
    """

    how: str
    time_ns: int | None = None
    file: str | None = None
    line: int | None = None
    limit: str | None = None
    limit_bytes: int | None = None
    used_bytes: int | None = None


def of_run(run: Run) -> MemoryEnd | None:
    """How memory ended the run; None: it did not, as far as is seen."""
    held = limits(run)
    raised = run.chosen("spans", "kind", [SpanKind.OUT_OF_MEMORY], ("name", "start_ns", "file", "line"))
    if raised:
        last = raised[-1]
        return MemoryEnd(
            f"an exception left the script: {last['name']}", last["start_ns"], last["file"], last["line"],
            *_nearest(run, held, 0.5),
        )  # fmt: skip
    number = _signal(run)
    if number == signal.SIGKILL:
        return _killed(run, held)
    if number in _ABORTED:
        return _aborted(run, held, number)
    return None


def _signal(run: Run) -> int | None:
    """The signal that ended it, or what a shell around it says."""
    process = run.manifest.process
    if process.signal:
        return process.signal
    code = process.exit_code or 0
    return code - _SHELLS if code in (_SHELLS + signal.SIGKILL, _SHELLS + signal.SIGABRT) else None


def _killed(run: Run, held: Limits) -> MemoryEnd | None:
    limit = _nearest(run, held, _NEAR)
    if held.killed:
        name = ("control group", held.control_group, held.control_group_peak)
        return MemoryEnd("the kernel killed a process of its control group for want of memory", None, None, None, *name)
    if limit[0] in ("control group", "machine"):
        return MemoryEnd("it was killed (SIGKILL) when there was hardly any memory left", None, None, None, *limit)
    return None


def _aborted(run: Run, held: Limits, number: int) -> MemoryEnd | None:
    limit = _nearest(run, held, _NEAR)
    if limit[0] is None:
        return None
    name = signal.Signals(number).name
    return MemoryEnd(f"it was ended by {name} when there was hardly any memory left", None, None, None, *limit)


def _nearest(run: Run, held: Limits, share: float) -> tuple[str | None, int | None, int | None]:
    """The limit of which most was in use, its bytes, and those in use; all None: less than that share of each."""
    available = _available_last(run)
    machine_used = held.machine - available if held.machine is not None and available is not None else None
    told = [
        ("address space", held.address_space, held.address_space_peak),
        ("data", held.data, None),
        ("control group", held.control_group, held.control_group_peak),
    ]
    near = [(used / limit, name, limit, used) for name, limit, used in told if limit and used is not None]
    if held.machine and machine_used is not None and available is not None and available <= _LITTLE * held.machine:
        near.append((machine_used / held.machine, "machine", held.machine, machine_used))
    best = max(near, default=None)
    return (best[1], best[2], best[3]) if best is not None and best[0] >= share else (None, None, None)


def _available_last(run: Run) -> int | None:
    """The least that was available on the machine in the last seconds of the run."""
    table = run.table("machine", ("time_ns", "memory_available_bytes"))
    known = table.filter(pc.is_valid(table["memory_available_bytes"]))
    if not known.num_rows:
        return None
    time = integers(known["time_ns"])
    return int(integers(known["memory_available_bytes"])[time >= time.max() - _LAST_NS].min())
