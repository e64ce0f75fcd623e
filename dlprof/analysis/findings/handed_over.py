"""What a program hands over to the processes that it started, through pipes and sockets.

The kernel counts the bytes that each process reads and writes by system calls. What the main process writes while its
children read as much has gone from one to the others.
"""

from __future__ import annotations

from dlprof.analysis import columns
from dlprof.analysis.findings.case import Case
from dlprof.schema.vocabulary import Loop

_LEAST_BYTES = 4_000_000
"""In each step: a large batch, which a pipe takes in milliseconds."""
_READ = 0.5
"""Share of what was written that the children must have read, at least: the rest may be files."""


def sent_bytes(case: Case) -> int | None:
    """Bytes that the main process sends to its children in each training step; None: little, or it was not measured."""
    steps = case.run.table("steps", ("loop", "count"))  # as columns: there may be millions
    count = columns.total(columns.steps_of(steps, Loop.TRAIN)["count"])
    written = case.machine.process_samples("write_bytes")["write_bytes"]
    if not count or len(written) < 2:
        return None
    sent = written[-1].as_py() - written[0].as_py()
    own = case.run.manifest.process.pid
    read = sum(row["read_bytes"] or 0 for row in case.run.rows("processes") if row["pid"] != own)
    return sent // count if sent >= _LEAST_BYTES * count and read >= _READ * sent else None
