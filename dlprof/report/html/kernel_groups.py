"""Rows of kernels as a page shows them: those of devices, and those of the host, which run beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlprof.analysis.kernels import HOST
from dlprof.report.kernel_json import KernelReport

_ROWS = 60


@dataclass(frozen=True)
class KernelGroup:
    """Rows whose shares are of one sum.

    Attributes:
        title: Where they ran.
        rows: Those with most time, as far as the page shows them.
        more: How many it does not show.
        has_layer, has_direction: Whether that is known of one of them.
    """

    title: str
    rows: Sequence[KernelReport]
    more: int
    has_layer: bool
    has_direction: bool


def of_rows(rows: Sequence[KernelReport]) -> list[KernelGroup]:
    """The rows of the devices, and those of the host, each in their order."""
    parts = {
        "On devices": [row for row in rows if row.device != HOST],
        "On the host": [row for row in rows if row.device == HOST],
    }
    return [_group(title, part) for title, part in parts.items() if part]


def _group(title: str, rows: Sequence[KernelReport]) -> KernelGroup:
    return KernelGroup(
        title=title,
        rows=rows[:_ROWS],
        more=max(0, len(rows) - _ROWS),
        has_layer=any(row.layer for row in rows),
        has_direction=any(row.direction for row in rows),
    )
