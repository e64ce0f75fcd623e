"""A run for TensorBoard: scalars, texts, and the traces of TensorFlow's or JAX's own profiler for its plug-in."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dlprof import safe_files
from dlprof.analysis.findings import diagnose
from dlprof.analysis.timeline.series import all_series
from dlprof.analysis.timeline.slices import MISSING, numbers
from dlprof.errors import DlprofError
from dlprof.export import markdown
from dlprof.export.eventfile import EventWriter
from dlprof.report.markdown_text import plain
from dlprof.rundir import writing_into
from dlprof.store.run import Run

_MS = 1_000_000


class Scalar(NamedTuple):
    """A value at a moment of the run's timeline."""

    time_ns: int
    step: int
    tag: str
    value: float


def write(run: Run, folder: Path) -> str:
    """Write an event file and copy the traces.

    Each kernel window becomes a profile of its own, `plugins/profile/window-000/HOST.xplane.pb`. The viewer keeps
    caches beside the files, so it never gets those of the run itself.

    Args:
        run: The run.
        folder: The folder of this run in TensorBoard's log folder.

    Returns:
        How much was written.

    Raises:
        CannotCreateError: The folder cannot be written to.
    """
    zero_s = _zero_s(run)
    with writing_into(folder):
        for old in folder.glob("events.out.tfevents.*.dlprof"):
            old.unlink()
        with safe_files.new_file(folder / f"events.out.tfevents.{int(zero_s)}.dlprof") as out:
            scalars = _write_events(run, EventWriter(out, zero_s), zero_s)
        traces = _copy_traces(run, folder)
    return f"{scalars:,} scalars, 2 texts, {traces} trace{'' if traces == 1 else 's'} of the engine"


def _zero_s(run: Run) -> float:
    """Seconds since 1970 at the run's zero; where no clock told it, when the run folder was made."""
    wall_ns = run.manifest.clock.origin_wall_ns
    return wall_ns / 1e9 if wall_ns else datetime.fromisoformat(run.manifest.created).timestamp()


def _write_events(run: Run, writer: EventWriter, zero_s: float) -> int:
    by_moment: dict[tuple[int, int], list[tuple[str, float]]] = defaultdict(list)
    for scalar in chain(_steps(run), _step_metrics(run), _epochs(run), _series(run)):
        by_moment[scalar.time_ns, scalar.step].append((scalar.tag, scalar.value))
    for (time_ns, step), values in sorted(by_moment.items()):
        writer.scalars(zero_s + time_ns / 1e9, step, values)
    end_s = zero_s + (run.wall_ns or 0) / 1e9
    writer.markdown(end_s, "dlprof/phases", markdown.phases(run))
    writer.markdown(end_s, "dlprof/findings", _findings(run))
    return sum(map(len, by_moment.values()))


def _findings(run: Run) -> str:
    """What `dlprof diagnose` finds; for a run that it cannot tell about, why."""
    try:
        return markdown.findings(diagnose.diagnose(run))
    except DlprofError as error:
        return plain(error.message)


def _steps(run: Run) -> Iterator[Scalar]:
    """Time of each step and wait for its input (means where a row stands for several), by the step's running number.

    Where a step returns before it is done, its time is that of its dispatch, and called so.
    """
    table = run.table("steps")
    columns = [numbers(table[name]).tolist() for name in ("start_ns", "dur_ns", "input_ns", "count")]
    time = "time of the dispatch" if run.manifest.backend.asynchronous_dispatch else "time"
    number = 0
    for loop, start, dur, waited, count in zip(table["loop"].to_pylist(), *columns, strict=True):
        yield Scalar(start + dur, number, f"{loop} step/{time} (ms)", dur / count / _MS)
        if waited != MISSING:
            yield Scalar(start + dur, number, f"{loop} step/input (ms)", waited / count / _MS)
        number += count


def _step_metrics(run: Run) -> Iterator[Scalar]:
    """Metrics of steps, by the running number of the step in which they were told."""
    table = run.table("steps")
    start, count = numbers(table["start_ns"]), numbers(table["count"])
    number, loops = np.cumsum(count) - count, table["loop"].to_pylist()
    rows = [row for row in run.rows("metrics") if row["step"] is not None and row["value"] is not None]
    places = np.searchsorted(start, [row["time_ns"] for row in rows], "right") - 1
    for row, place in zip(rows, places.tolist(), strict=True):
        if place >= 0:
            yield Scalar(row["time_ns"], int(number[place]), f"{loops[place]} step/{row['name']}", row["value"])


def _epochs(run: Run) -> Iterator[Scalar]:
    """Duration and metrics of epochs, by a running number that goes on from one `fit` to the next."""
    order: dict[tuple[int, int], int] = {}
    for row in sorted(run.rows("epochs"), key=lambda row: int(row["start_ns"])):
        number = order.setdefault((row["loop_id"], row["epoch"]), len(order))
        yield Scalar(row["start_ns"] + row["dur_ns"], number, "epoch/time (s)", row["dur_ns"] / 1e9)
    for row in run.rows("metrics"):
        key = (row["loop_id"], row["epoch"])
        if row["step"] is None and row["value"] is not None and key in order:
            yield Scalar(row["time_ns"], order[key], f"epoch/{row['name']}", row["value"])


def _series(run: Run) -> Iterator[Scalar]:
    """Curves of the machine; their step is the time in milliseconds."""
    for series in all_series(run):
        for time_ns, value in zip(series.time_ns.tolist(), series.values.tolist(), strict=True):
            yield Scalar(time_ns, max(0, time_ns // _MS), f"{series.group}/{series.title}", value)


def _copy_traces(run: Run, folder: Path) -> int:
    traces = sorted(run.folder.raw.glob("kernels/window-*/plugins/profile/*/*.xplane.pb"))
    for file in traces:
        window = file.relative_to(run.folder.raw / "kernels").parts[0]
        target = folder / "plugins" / "profile" / window
        target.mkdir(parents=True, exist_ok=True)
        name = file.relative_to(run.folder.path).as_posix()
        with safe_files.opened(run.folder.path, name) as source, safe_files.new_file(target / file.name) as out:
            shutil.copyfileobj(source, out)
    return len(traces)
