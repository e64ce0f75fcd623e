"""The figures of a run as frames, with the names of the tables (`dlprof.schema.tables`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dlprof.analysis import kernels as kernel_sums
from dlprof.analysis import phase_threads, program, stacks
from dlprof.errors import UsageError
from dlprof.notebook import columns, frames, given
from dlprof.notebook.python_words import in_python
from dlprof.notebook.time_units import Unit, checked, in_unit
from dlprof.report import kernel_json
from dlprof.report.json_text import plain
from dlprof.schema.tables import TABLES
from dlprof.store import query
from dlprof.store.run import Run

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

PROCESS_COLUMNS = ("host", "rank", "pid")
"""Columns that are the same in all rows of a run; `RunFrames.table` has them too."""


class RunFrames:
    """Frames of a run.

    `unit` of a method is the unit of its times: `ns`, `us`, `ms` or `s`; the names of columns say it (`dur_ms`). None:
    that of the run, which is `ns` unless it was opened with another one.

    Every method raises `UnavailableError` where pandas is not installed, `UsageError` for a unit that there is not.

    Args:
        run: The run.
        unit: Unit of times where a method is given none.
    """

    def __init__(self, run: Run, unit: Unit = "ns") -> None:
        checked(unit)
        self.run = run
        """The run itself, as dlprof's analyses take it."""
        self.unit: Unit = unit
        """Unit of times where a method is given none."""

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return self.run.name

    def phases(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """Phases of the wall time, by name; those without `parent` sum to it."""
        return self._in(unit, self._measured("phases").set_index("phase"))

    def steps(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """One row per step."""
        return self._in(unit, self._measured("steps"))

    def epochs(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """One row per epoch of each fit; `epoch` counts from 0, as Keras tells its callbacks."""
        return self._in(unit, self._measured("epochs"))

    def metrics(self) -> pd.DataFrame:
        """Losses and metrics that Keras had computed; `step` is <NA> for those of an epoch."""
        return self._measured("metrics")

    def lines(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """Hits and time of each line of the script; the time contains what the line calls."""
        return self._in(unit, self._measured("lines"))

    @in_python()
    def kernels(self, by: str = "layer", *, phase: str | None = None, unit: Unit | None = None) -> pd.DataFrame:
        """Kernels, operators and copies, summed as by `dlprof kernels`; those with most time of their own first.

        Args:
            by: kernel, op, layer, line, category, direction, device or step.
            phase: Only those that began in this phase (`fit`, `fit.steps`, `evaluate`).
            unit: Of times.

        Raises:
            UsageError: They cannot be summed by that.
        """
        if not isinstance(by, str) or by not in kernel_sums.GROUPS:
            raise UsageError(f"Kernels cannot be summed by {by}.", hint=", ".join(kernel_sums.GROUPS))
        self.run.require("kernel_ops", "kernel_events")
        report = kernel_json.as_json(kernel_sums.summarise(self.run, by, phase=phase), by, phase)
        keys = {"kind", "device", *kernel_sums.GROUPS[by], *(("category",) if by == "op" else ())}
        figures = [name for name in columns.KERNELS if name not in kernel_json.KEYS]
        names = [name for name in kernel_json.KEYS if name in keys] + figures
        return self._in(unit, frames.of_rows(plain(report.rows), {name: columns.KERNELS[name] for name in names}))

    def cores(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """Samples of each core, in percent of that core."""
        return self._in(unit, frames.of_table(self._table("cores")))

    def machine(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """Samples of the machine as a whole, by `time_ns`; CPU in percent of one core."""
        return self._in(unit, frames.of_table(self._table("machine")).set_index("time_ns"))

    def gpu(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """Samples of each GPU."""
        return self._in(unit, frames.of_table(self._table("gpu")))

    @in_python()
    def stacks(self, top: int = 5, *, unit: Unit | None = None) -> pd.DataFrame:
        """The stacks that stood longest where phases are measured, `top` of each; `function` is the innermost.

        Raises:
            UsageError: `top` is no whole number from 1 on.
        """
        given.count(top, "top")
        self.run.require("stacks")
        own = program.pieces_of(self.run, "stacks")
        tables = own, self._table("frames"), self._table("phase_intervals")
        whose = phase_threads.of_run(self.run)
        rows = [_stack_row(stack) for stack in stacks.hottest(*tables, per_phase=top, whose=whose)]
        return self._in(unit, frames.of_rows(rows, columns.STACKS))

    @in_python()
    def table(self, name: str) -> pd.DataFrame:
        """A table as it is stored, with times in ns (`dlprof sql RUN` lists them); `dlprof.in_unit` converts them.

        Raises:
            UsageError: There is no such table.
            BadDataError: It is lost.
        """
        if not isinstance(name, str) or name not in TABLES:
            raise UsageError(f"There is no table {name}.", hint=", ".join(TABLES))
        return frames.of_table(self._table(name))

    @in_python()
    def sql(self, text: str) -> pd.DataFrame:
        """The answer to a query over the tables, in the SQL of DuckDB.

        Raises:
            UsageError: DuckDB refuses the query, it is not one, or it asks for nothing.
        """
        return frames.of_table(query.arrow(self.run, given.text(text, "A query")))

    def _in(self, unit: Unit | None, frame: pd.DataFrame) -> pd.DataFrame:
        return in_unit(frame, unit or self.unit)

    def _measured(self, name: str) -> pd.DataFrame:
        measured = [column for column in TABLES[name].names if column not in PROCESS_COLUMNS]
        return frames.of_table(self._table(name, measured))

    @in_python()
    def _table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """A table; one that is lost is an error, not an empty frame."""
        self.run.require(name)
        return self.run.table(name, columns)


def _stack_row(stack: stacks.HotStack) -> dict[str, Any]:
    function, file, line = stack.frames[0]
    return {
        "phase": stack.phase,
        "dur_ns": stack.dur_ns,
        "share": stack.share,
        "function": function,
        "file": file,
        "line": line,
        "stack": " < ".join(f"{name} ({path}:{number})" for name, path, number in stack.frames),
    }
