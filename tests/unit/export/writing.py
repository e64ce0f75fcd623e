"""What a writer of one file writes."""

from __future__ import annotations

import io
from typing import Any

from dlprof.store.run import Run


def content(writer: Any, run: Run) -> bytes:
    """What is written of a run."""
    out = io.BytesIO()
    writer.write(run, out)
    return out.getvalue()
