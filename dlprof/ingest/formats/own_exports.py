"""What is said of a file that dlprof itself exported: the run that it was made from holds more."""

from __future__ import annotations

from dlprof.ingest.kernels.by_process import NAME_AT_MOST
from dlprof.ingest.kernels.trace import Trace


def tell(trace: Trace, run: str) -> None:
    """Say it.

    Args:
        trace: What was read of the file.
        run: Name of the run, as the file tells it.
    """
    text = (
        f"{trace.path.name} was exported by dlprof from the run {run[:NAME_AT_MOST]}, which holds more: in the file "
        "its steps begin behind the wait for their batch, and its operators are a process of their own. Look at that "
        "run itself."
    )
    trace.tell("trace-own-export", "warning", text, 1)
