"""Runs and comparisons as objects for notebooks: tables as pandas frames, plots, and a short page of HTML.

Frames keep the names of the tables (`dlprof.schema.tables`), so units stand in the names of columns.
Their types are those of Arrow (`pandas.ArrowDtype`): whole numbers stay whole, and what was not measured is
`<NA>`, which is not the same as a loss that is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dlprof.analysis import compare as comparing
from dlprof.analysis import kernels as kernel_sums
from dlprof.analysis import line_pairs, stacks
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from dlprof.errors import UsageError
from dlprof.notebook.extra import need
from dlprof.pipeline import opening
from dlprof.report import kernel_json, summary
from dlprof.report.json_text import plain
from dlprof.report.model import Report
from dlprof.schema.manifest import as_builtins
from dlprof.schema.tables import TABLES
from dlprof.store import query
from dlprof.store.run import Run
from dlprof.trials import confirm

if TYPE_CHECKING:
    import pandas as pd

    from dlprof.notebook.plots import ComparisonPlots, RunPlots

WHO = ("host", "rank", "pid")
"""Columns that are the same in all rows of a run; `table` has them too."""

_NS, _TEXT, _REAL, _COUNT = pa.int64(), pa.string(), pa.float64(), pa.int64()
_KERNELS = {
    **dict.fromkeys(("layer", "direction", "op", "category", "name", "kind", "device"), _TEXT), "step": _COUNT,
    "count": _COUNT, "total_ns": _NS, "self_ns": _NS, "union_ns": _NS, "mean_ns": _NS, "p95_ns": _NS,
    "share": _REAL, "share_of_step": _REAL, "launch_delay_ns": _NS, "flops": _REAL, "bytes": _REAL,
}  # fmt: skip
_STACKS = {
    "phase": _TEXT, "dur_ns": _NS, "share": _REAL, "function": _TEXT, "file": _TEXT, "line": _COUNT, "stack": _TEXT,
}  # fmt: skip
_FINDINGS = {
    "slug": _TEXT, "claim": _TEXT, "at_stake_ns": _NS, "share": _REAL, "basis": _TEXT, "state": _TEXT, "file": _TEXT,
    "line": _COUNT, "next_step": _TEXT, "remedy": _TEXT,
}  # fmt: skip
_ITEMS = {
    "path": _TEXT, "a_ns": _NS, "b_ns": _NS, "delta_ns": _NS, "ci_low_ns": _NS, "ci_high_ns": _NS,
    "within_noise": pa.bool_(),
}  # fmt: skip
_LAYERS = {
    "layer": _TEXT, "direction": _TEXT, "a_ns": _NS, "b_ns": _NS, "delta_ns": _NS, "a_ops": _TEXT, "b_ops": _TEXT,
}  # fmt: skip
_LINES = {
    "file": _TEXT, "function": _TEXT, "line": _COUNT, "source": _TEXT, "a_hits": _COUNT, "a_ns": _NS,
    "b_hits": _COUNT, "b_ns": _NS, "delta_ns": _NS,
}  # fmt: skip


def open_run(run: str | PathLike[str] = "last") -> RunView:
    """Open a run: its path, its name below `dlprof_runs/`, or `last`.

    Raises:
        NoInputError: There is no such run.
        BadDataError: It is damaged or of a newer dlprof.
    """
    return RunView(opening.open_run(fspath(run)))


def compare(
    a: RunView | str | PathLike[str], b: RunView | str | PathLike[str], *, labels: tuple[str, str] | None = None
) -> ComparisonView:
    """Compare two runs, A less B.

    Args:
        a: An opened run, or what `dlprof compare` takes: a folder of repeats, or several with commas between, too.
        b: The other one.
        labels: What to call them; None: by their backends where these differ, else by their names.

    Raises:
        NoInputError: There is no such run.
        UsageError: A run has no wall time.
    """
    names = [str(one.path) if isinstance(one, RunView) else fspath(one) for one in (a, b)]
    sides = opening.open_sides(names)
    if labels is not None:
        sides = [replace(side, label=label) for side, label in zip(sides, labels, strict=True)]
    return ComparisonView(comparing.compare(*sides))


class RunView:
    """A run in a notebook: its figures as frames, its plots (`plot`), and its report when it is shown."""

    def __init__(self, run: Run) -> None:
        self.run = run
        """The run itself, as dlprof's analyses take it."""

    def __repr__(self) -> str:
        return f"<dlprof run {self.name}>"

    def _repr_html_(self) -> str:
        from dlprof.notebook import html  # noqa: PLC0415  (only where it is shown)

        return html.of_run(self.report, self._diagnosis_if_any())

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return self.run.name

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.run.folder.path

    @property
    def backend(self) -> str | None:
        """The backend that Keras ran on; None: not known."""
        return self.run.backend

    @property
    def manifest(self) -> dict[str, Any]:
        """What was run, where and how (docs/run-folder.md)."""
        return as_builtins(self.run.manifest)

    @property
    def wall_ns(self) -> int | None:
        """Wall time (ns); None when it is not known."""
        return self.run.wall_ns

    @property
    def wall_s(self) -> float | None:
        """Wall time in seconds; None when it is not known."""
        return None if self.wall_ns is None else self.wall_ns / 1e9

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All that the report says, as `dlprof report --json` (docs/json.md)."""
        return summary.as_builtins(self.report)

    @cached_property
    def report(self) -> Report:
        """The report as typed objects."""
        return summary.summarise(self.run)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Causes of the run's time, with their evidence.

        Raises:
            UsageError: The run has no phases, so that nothing can be said.
        """
        return confirm.with_trials(self.run, diagnose.diagnose(self.run))

    def _diagnosis_if_any(self) -> Diagnosis | None:
        try:
            return self.diagnosis
        except UsageError:
            return None

    @property
    def plot(self) -> RunPlots:
        """Plots of the run; each returns the Axes."""
        from dlprof.notebook.plots import RunPlots  # noqa: PLC0415  (matplotlib is only needed here)

        return RunPlots(self)

    # -- frames ------------------------------------------------------------------------------------

    def phases(self) -> pd.DataFrame:
        """Phases of the wall time, by name; those without `parent` sum to it."""
        return self._measured("phases").set_index("phase")

    def steps(self) -> pd.DataFrame:
        """One row per step."""
        return self._measured("steps")

    def epochs(self) -> pd.DataFrame:
        """One row per epoch of each fit."""
        return self._measured("epochs")

    def metrics(self) -> pd.DataFrame:
        """Losses and metrics that Keras had computed; `step` is <NA> for those of an epoch."""
        return self._measured("metrics")

    def lines(self) -> pd.DataFrame:
        """Hits and time of each line of the script; the time contains what the line calls."""
        return self._measured("lines")

    def kernels(self, by: str = "layer", *, phase: str | None = None) -> pd.DataFrame:
        """Kernels, operators and copies, summed as by `dlprof kernels`; those with most time of their own first.

        Args:
            by: kernel, op, layer, category, direction, device or step.
            phase: Only those that began in this phase (`fit`, `fit.steps`, `evaluate`).

        Raises:
            UsageError: They cannot be summed by that.
        """
        if by not in kernel_sums.GROUPS:
            raise UsageError(f"Kernels cannot be summed by {by}.", hint=", ".join(kernel_sums.GROUPS))
        found = kernel_json.as_json(kernel_sums.summarise(self.run, by, phase=phase), by, phase)
        keys = {"kind", "device", *kernel_sums.GROUPS[by], *(("category",) if by == "op" else ())}
        figures = [name for name in _KERNELS if name not in kernel_json.KEYS]
        names = [name for name in kernel_json.KEYS if name in keys] + figures
        return _frame(plain(found.rows), {name: _KERNELS[name] for name in names})

    def cores(self) -> pd.DataFrame:
        """Samples of each core, in percent of that core."""
        return _to_pandas(self.run.table("cores"))

    def machine(self) -> pd.DataFrame:
        """Samples of the machine as a whole, by `time_ns`; CPU in percent of one core."""
        return _to_pandas(self.run.table("machine")).set_index("time_ns")

    def gpu(self) -> pd.DataFrame:
        """Samples of each GPU."""
        return _to_pandas(self.run.table("gpu"))

    def stacks(self, top: int = 5) -> pd.DataFrame:
        """The stacks of the main thread that stood longest, `top` of each phase; `function` is the innermost."""
        run = self.run
        found = stacks.hottest(run.table("stacks"), run.table("frames"), run.table("phase_intervals"), per_phase=top)
        return _frame([_stack_row(one) for one in found], _STACKS)

    def findings(self) -> pd.DataFrame:
        """Causes of the run's time, the dearest first, as by `dlprof diagnose`.

        Raises:
            UsageError: The run has no phases, so that nothing can be said.
        """
        return _findings(self.diagnosis)

    def table(self, name: str) -> pd.DataFrame:
        """A table as it is stored (`dlprof sql RUN` lists them).

        Raises:
            UsageError: There is no such table.
        """
        if name not in TABLES:
            raise UsageError(f"There is no table {name}.", hint=", ".join(TABLES))
        return _to_pandas(self.run.table(name))

    def sql(self, text: str) -> pd.DataFrame:
        """The answer to a query over the tables, in the SQL of DuckDB.

        Raises:
            UsageError: DuckDB refuses the query.
        """
        return _to_pandas(query.arrow(self.run, text))

    def _measured(self, name: str) -> pd.DataFrame:
        return _to_pandas(self.run.table(name, [one for one in TABLES[name].names if one not in WHO]))


class ComparisonView:
    """Two runs beside each other; what is called `delta_ns` is A less B."""

    def __init__(self, found: comparing.Comparison) -> None:
        self.comparison = found
        """The comparison itself, as dlprof's analyses take it."""

    def __repr__(self) -> str:
        return f"<dlprof comparison of {self.comparison.a.label} and {self.comparison.b.label}>"

    def _repr_html_(self) -> str:
        from dlprof.notebook import html  # noqa: PLC0415  (only where it is shown)

        return html.of_comparison(self.comparison, self._diagnosis_if_any())

    @property
    def gap_ns(self) -> int:
        """Wall time of A less that of B (ns); items and what is in no phase sum to it."""
        return self.comparison.gap_ns

    @property
    def gap_s(self) -> float:
        """The same in seconds."""
        return self.gap_ns / 1e9

    @property
    def comparable(self) -> bool:
        """Whether both did the same work, as far as that can be seen."""
        return self.comparison.parity.comparable

    @property
    def why_not(self) -> tuple[str, ...]:
        """Why they are not comparable; empty where they are."""
        return tuple(self.comparison.parity.why_not)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Why A is slower than B; without findings where it is not, or where the gap is within noise.

        Raises:
            UsageError: A run has no phases.
        """
        return diagnose.diagnose_gap(self.comparison)

    def _diagnosis_if_any(self) -> Diagnosis | None:
        try:
            return self.diagnosis
        except UsageError:
            return None

    @property
    def plot(self) -> ComparisonPlots:
        """Plots of the comparison; each returns the Axes."""
        from dlprof.notebook.plots import ComparisonPlots  # noqa: PLC0415  (matplotlib is only needed here)

        return ComparisonPlots(self)

    def items(self) -> pd.DataFrame:
        """Where the gap comes from, part by part, the largest difference first, by `path`."""
        rows = []
        for item in self.comparison.items:
            low, high = item.ci_ns or (None, None)
            rows.append({**vars(item), "delta_ns": item.delta_ns, "ci_low_ns": low, "ci_high_ns": high,
                         "within_noise": item.noise})  # fmt: skip
        return _frame(rows, _ITEMS).set_index("path")

    def layers(self) -> pd.DataFrame:
        """Kernels of all steps by layer and direction; <NA>: the layer is not on that side."""
        rows = [
            {**vars(one), "delta_ns": (one.a_ns or 0) - (one.b_ns or 0), "a_ops": ", ".join(one.a_ops),
             "b_ops": ", ".join(one.b_ops)}
            for one in self.comparison.layers
        ]  # fmt: skip
        return _frame(rows, _LAYERS)

    def lines(self) -> pd.DataFrame:
        """The lines of both scripts beside each other, the largest difference first."""
        pairs = line_pairs.join(self.comparison.a.runs, self.comparison.b.runs)
        return _frame([{**vars(pair), "delta_ns": pair.delta_ns} for pair in pairs], _LINES)

    def findings(self) -> pd.DataFrame:
        """Why A is slower than B, the dearest cause first; empty where it is not slower.

        Raises:
            UsageError: A run has no phases.
        """
        return _findings(self.diagnosis)


def _stack_row(one: stacks.HotStack) -> dict[str, Any]:
    function, file, line = one.frames[0]
    text = " < ".join(f"{name} ({path}:{number})" for name, path, number in one.frames)
    return {"phase": one.phase, "dur_ns": one.dur_ns, "share": one.share, "function": function, "file": file,
            "line": line, "stack": text}  # fmt: skip


def _findings(found: Diagnosis) -> pd.DataFrame:
    rows = [{**vars(one), "remedy": one.remedy.title if one.remedy else None} for one in found.findings]
    frame = _frame(rows, _FINDINGS)
    frame.index += 1
    frame.index.name = "rank"
    return frame


def _frame(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, pa.DataType]) -> pd.DataFrame:
    """Rows with these columns; other keys of the rows are left out."""
    schema = pa.schema(list(columns.items()))
    return _to_pandas(pa.Table.from_pylist([{name: row.get(name) for name in columns} for row in rows], schema=schema))


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    return query.plain(table).to_pandas(types_mapper=need("pandas").ArrowDtype)
