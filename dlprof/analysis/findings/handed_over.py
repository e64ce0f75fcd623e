"""What a program and the processes that it started hand over to each other, through pipes and sockets.

The kernel counts the bytes that each process reads and writes by system calls. What the main process writes while its
children read as much has gone from one to the others; and the other way round.
"""

from __future__ import annotations

from dlprof.analysis import columns
from dlprof.analysis.findings.case import Case
from dlprof.schema.vocabulary import Loop

_LEAST_BYTES = 4_000_000
"""In each step: a large batch, which a pipe takes in milliseconds."""
_LEAST_IN_ALL = 250_000_000
"""In the whole run: a second's work of pickling and of a pipe, about."""
_SAME = 0.5
"""Share of what the main process wrote or read that the children must have read or written: the rest may be files."""


def sent_bytes(case: Case) -> int | None:
    """Bytes that the main process sends to its children in each training step; None: little, or it was not measured."""
    return _handed_over(case, "write_bytes", "read_bytes")


def received_bytes(case: Case) -> int | None:
    """Bytes that the main process is sent by its children in each training step; None: likewise."""
    return _handed_over(case, "read_bytes", "write_bytes")


def sent_outside(case: Case) -> int | None:
    """Bytes that the main process sends to its children outside of its training; None: little, or not measured."""
    moved = _grown(case, case.tree.wall_ns)
    if case.run.row_count("steps"):
        moved -= _grown(case, 0)
    return moved if moved >= _LEAST_IN_ALL and _of_children(case, "read_bytes") >= _SAME * moved else None


def _grown(case: Case, around_ns: int) -> int:
    """What the main process wrote in its training and so long around it (bytes); 0: not measured."""
    counted = case.machine.process_samples("write_bytes", around_ns=around_ns)["write_bytes"]
    return int(counted[-1].as_py() - counted[0].as_py()) if len(counted) > 1 else 0


def _handed_over(case: Case, own_column: str, their_column: str) -> int | None:
    steps = case.run.table("steps", ("loop", "count"))  # as columns: there may be millions
    count = columns.total(columns.steps_of(steps, Loop.TRAIN)["count"])
    counted = case.machine.process_samples(own_column)[own_column]
    if not count or len(counted) < 2:
        return None
    moved = counted[-1].as_py() - counted[0].as_py()
    theirs = _of_children(case, their_column)
    return moved // count if moved >= _LEAST_BYTES * count and theirs >= _SAME * moved else None


def _of_children(case: Case, column: str) -> int:
    own = case.run.manifest.process.pid
    return sum(row[column] or 0 for row in case.run.rows("processes") if row["pid"] != own)
