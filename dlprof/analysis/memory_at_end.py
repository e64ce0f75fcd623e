"""The most that the traced process alone ever had resident, as the kernel keeps it: at its end, else as last asked."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.memory_series import MemorySeries
from dlprof.schema.vocabulary import SpanKind
from dlprof.store.run import Run

_FINISH = "finish"
"""The span in which the probe writes its last words."""


def kernel_peak(run: Run, series: MemorySeries) -> tuple[int | None, int | None]:
    """That peak (bytes), and until when it is one (ns): None, to the end. None both: it is not told.

    What was sampled of the process is a part of it: the kernel counts pages by core, and adds that up now and then.
    """
    told = _told(run)
    known = [one for one in (told, series.kernel_peak_bytes) if one is not None]
    if not known:
        return None, None
    return max(*known, series.own_peak_bytes), None if told is not None else series.kernel_peak_ns


def _told(run: Run) -> int | None:
    """What the process itself told as it ended; None: it did not come to that, or is one of an older dlprof."""
    found: int | None = None
    for piece in run.pieces("spans", ("kind", "name", "detail")):
        kept = pc.and_(_is(piece["kind"], SpanKind.DLPROF), _is(piece["name"], _FINISH))
        for row in piece.filter(kept).to_pylist():
            value = _detail(row["detail"]).get("peak_rss_bytes")
            found = max(found or 0, value) if isinstance(value, int) and value > 0 else found
    return found


def _is(column: pa.ChunkedArray, word: str) -> pa.ChunkedArray:
    return pc.equal(column.cast(pa.string()), word)


def _detail(text: str | None) -> dict[str, Any]:
    found = msgspec.json.decode(text) if text else {}
    return found if isinstance(found, dict) else {}
