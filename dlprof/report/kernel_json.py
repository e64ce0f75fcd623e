"""Tables of kernels as JSON (`dlprof.kernels/1`). Times are ns; None: not known."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, structs

from dlprof.analysis import roofline
from dlprof.analysis.kernels import Kernels, Row
from dlprof.analysis.roofline import LayerRate, Roofline

SCHEMA = "dlprof.kernels/1"
KEYS = ("step", "file", "line", "layer", "direction", "op", "category", "name", "kind", "device")
"""What rows are told apart by; which of them a row has depends on what is summed by."""
Text = str | None | UnsetType


class KernelReport(Struct, frozen=True, kw_only=True):
    """A group of executions; a key that the grouping does not have is not there."""

    step: int | UnsetType | None = UNSET
    file: Text = UNSET
    """The file of the innermost line of the user's that made the operation; None: its engine does not say. Programs of
    JAX do, compiled or not."""
    line: int | UnsetType | None = UNSET
    layer: Text = UNSET
    direction: Text = UNSET
    op: Text = UNSET
    category: Text = UNSET
    name: Text = UNSET
    kind: str
    device: str
    count: int
    total_ns: int
    self_ns: int
    union_ns: int | None
    mean_ns: int
    p95_ns: int | None
    share: float | None
    """Own time, of that of all that ran on devices, or of all that ran on the host: as the row did."""
    share_of_step: float | None
    """Wall time in which one of them ran, of the kernel windows."""
    launch_delay_ns: int | None
    flops: float | None
    """Operations of all executions; by layer, where the trace does not say, those of the layer's work by shapes stand
    in the row of its operator with most time among those that are products (or, if none is, of all)."""
    bytes: float | None
    """Likewise what is moved, at least."""
    bound: str | UnsetType | None = UNSET
    """By layer: what binds it, `compute`, `bandwidth` or `overhead`, in the same row; None in the others."""


class KernelTable(Struct, frozen=True, kw_only=True):
    """All rows of a grouping."""

    schema: str = SCHEMA
    by: str
    phase: str | None
    rows: tuple[KernelReport, ...]
    all_ns: int
    all_of: str
    """`devices`, or where nothing ran on one, `host`: the two are never added."""
    host_ns: int
    """Time of all operators of the host."""
    window_ns: int
    unattributed_ns: int
    dropped_events: int
    aggregated: bool


def as_json(kernels: Kernels, by: str, phase: str | None, work: Roofline | None = None) -> KernelTable:
    """All rows. See `dlprof help json`.

    Args:
        kernels: The sums.
        by: What they are summed by.
        phase: That of all of them; None: they are of any.
        work: Of rows by layer: the work of layers.
    """
    rows = tuple(_row(row, kernels) for row in kernels.rows)
    return KernelTable(
        by=by,
        phase=phase,
        rows=rows if work is None else _with_work(rows, kernels, work),
        all_ns=kernels.all_ns,
        all_of=kernels.all_of,
        host_ns=kernels.host_ns,
        window_ns=kernels.window_ns,
        unattributed_ns=kernels.unattributed_ns,
        dropped_events=kernels.dropped_events,
        aggregated=kernels.aggregated,
    )


def _with_work(rows: tuple[KernelReport, ...], kernels: Kernels, work: Roofline) -> tuple[KernelReport, ...]:
    """The rows, with the work of each layer in that of its main operator."""
    main = roofline.main_rows(work, kernels.rows)
    return tuple(_worked(row, main.get(number), work.traced_steps) for number, row in enumerate(rows))


def _worked(row: KernelReport, rate: LayerRate | None, steps: int) -> KernelReport:
    if rate is None:
        return structs.replace(row, bound=None)
    by_shapes = None if rate.work.flops is None else rate.work.flops * steps
    return structs.replace(
        row,
        flops=by_shapes if row.flops is None else row.flops,
        bytes=rate.work.bytes * steps if row.bytes is None else row.bytes,
        bound=rate.bound,
    )


def _row(row: Row, kernels: Kernels) -> KernelReport:
    return KernelReport(
        **{key: row.keys[key] for key in KEYS if key in row.keys},
        count=row.count,
        total_ns=row.total_ns,
        self_ns=row.self_ns,
        union_ns=row.union_ns,
        mean_ns=round(row.mean_ns),
        p95_ns=_rounded(row.p95_ns),
        share=row.self_ns / whole if (whole := kernels.whole_ns(row)) else None,
        share_of_step=row.union_ns / kernels.window_ns if row.union_ns is not None and kernels.window_ns else None,
        launch_delay_ns=_rounded(row.delay_ns),
        flops=row.flops,
        bytes=row.bytes,
    )


def _rounded(ns: float | None) -> int | None:
    return None if ns is None else round(ns)
