"""Two runs beside each other as frames; what is called `delta_ns` is A minus B."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlprof.analysis import line_pairs, memory_pairs, work_pairs
from dlprof.analysis.compare import Comparison
from dlprof.notebook import columns, frames
from dlprof.notebook.time_units import Unit, checked, in_unit

if TYPE_CHECKING:
    import pandas as pd


class ComparisonFrames:
    """Frames of a comparison; `unit` is that of times, as of a run's frames.

    Every method raises `UnavailableError` where pandas is not installed, `UsageError` for a unit that there is not.

    Args:
        comparison: The comparison.
        unit: Unit of times where a method is given none.
    """

    def __init__(self, comparison: Comparison, unit: Unit = "ns") -> None:
        checked(unit)
        self.comparison = comparison
        """The comparison itself, as dlprof's analyses take it."""
        self.unit: Unit = unit
        """Unit of times where a method is given none."""

    def items(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """Where the gap comes from, part by part, the largest difference first, by `path`."""
        rows = []
        for item in self.comparison.items:
            low, high = item.ci_ns or (None, None)
            derived = {"delta_ns": item.delta_ns, "ci_low_ns": low, "ci_high_ns": high, "within_noise": item.noise}
            rows.append({**vars(item), **derived})
        return in_unit(frames.of_rows(rows, columns.ITEMS).set_index("path"), unit or self.unit)

    def layers(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """Kernels of all steps by layer and direction; <NA>: the layer is not on that side."""
        rows = []
        for layer in self.comparison.layers:
            operators = {"a_ops": ", ".join(layer.a_ops), "b_ops": ", ".join(layer.b_ops)}
            rows.append({**vars(layer), **operators, "delta_ns": (layer.a_ns or 0) - (layer.b_ns or 0)})
        return in_unit(frames.of_rows(rows, columns.LAYERS), unit or self.unit)

    def lines(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """The lines of both scripts beside each other, the largest difference first."""
        pairs = line_pairs.join(self.comparison.a.runs, self.comparison.b.runs)
        rows = [{**vars(pair), "delta_ns": pair.delta_ns} for pair in pairs]
        return in_unit(frames.of_rows(rows, columns.LINES), unit or self.unit)

    def memory(self) -> pd.DataFrame:
        """Bytes of both sides: peaks of phases and devices, what holds them by kind and layer; <NA>: not known."""
        pair = memory_pairs.join(self.comparison.a, self.comparison.b)
        groups = (("phase", pair.phases), ("kind", pair.kinds), ("device", pair.devices))
        rows = [{**vars(item), "of": of, "delta_bytes": item.delta_bytes} for of, items in groups for item in items]
        for layer in pair.layers:
            known = None not in (layer.a_bytes, layer.b_bytes)
            delta = (layer.a_bytes or 0) - (layer.b_bytes or 0) if known else None
            rows.append({**vars(layer), "of": "layer", "name": layer.layer, "delta_bytes": delta})
        return frames.of_rows(rows, columns.MEMORY)

    def work(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """What a training step asks of each layer, in what time and at which rate, on both sides; <NA>: not known."""
        pair = work_pairs.join(self.comparison.a, self.comparison.b)
        rows = [{**vars(item), "a_ns": _whole(item.a_ns), "b_ns": _whole(item.b_ns)} for item in pair.layers]
        return in_unit(frames.of_rows(rows, columns.WORK), unit or self.unit)


def _whole(ns: float | None) -> int | None:
    return None if ns is None else round(ns)
