"""Fills the table `lines` from samples with what was not counted, so that no line of the user's is silently absent."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import cache

import pyarrow as pa

from dlprof.engines import combined
from dlprof.ingest.own import lines as lines_reader
from dlprof.ingest.own.counted_frames import Counting
from dlprof.ingest.own.sampled_lines import SampledLines
from dlprof.ingest.own.standing import Progress, Segment, progress
from dlprof.ingest.own.stood import MainThread, stood
from dlprof.launch import sources
from dlprof.pipeline.workspace import Workspace
from dlprof.schema.tables import TABLES

_MONITORING = (3, 12)
"""From this Python on, lines are counted on every thread."""
_LATE = 0.1
"""Share of the sampled time that is of no sample from which on that is told."""
_NAMED = 5
"""Functions that a health line names; the others are counted."""


def add(run: Workspace, rate_hz: float | None, others: Container[int] = (), segments: Sequence[Segment] = ()) -> None:
    """Add rows of lines that were seen in stacks but not counted, and say how many.

    Args:
        run: The run, with its tables `stacks`, `frames` and `spans`.
        rate_hz: Stacks per second; None: none were taken.
        others: Processes whose stacks are not the program's.
        segments: How often stacks were taken, from when on; none: as `rate_hz` says.
    """
    frames = run.tables.get("frames")
    if frames is None or not rate_hz:
        return
    is_users, source = cache(lambda file: _is_users(run, file)), cache(run.source)
    found = SampledLines(_counting(run), is_users, source, rate_hz)
    below: dict[int, SampledLines] = {}
    spans = run.tables.pieces("spans", ("kind", "name", "thread", "start_ns", "dur_ns", "detail"))
    known = _progress(run, segments)
    looked_at = {True: 0, False: 0}  # whether the time is of a sample (ns)
    for one in stood(run.tables.pieces("stacks"), frames, MainThread(spans), others, known):
        if one.main:
            looked_at[one.samples != 0] += one.dur_ns
        if one.pid is None:
            found.add(one)
        else:  # nothing is counted in what the program has started
            below.setdefault(one.pid, SampledLines(Counting(), is_users, source, rate_hz)).add(one)
    _say_late(run, looked_at[False], sum(looked_at.values()))
    _time_scaled(run, found)
    rows = [{**run.process.columns, **row} for row in found.rows()]
    rows += [{**run.process.columns, "pid": pid, **row} for pid, lines in below.items() for row in lines.rows()]
    if rows:
        run.tables.append("lines", pa.Table.from_pylist(rows, schema=TABLES["lines"]))
        _keep_sources(run, {row["file"] for row in rows})
        _say_sampled(
            run,
            len(rows),
            len({(row["file"], row["first_line"], row["function"]) for row in rows}),
            _rates(rate_hz, segments),
        )
    if not found.counting.on_threads:
        _say_unseen(run, found.unseen({place for lines in below.values() for place in lines.seen()}))


def _progress(run: Workspace, segments: Sequence[Segment]) -> Progress | None:
    """How the main thread went on; while phases are of other threads at times, only how often it was looked at."""
    if run.manifest.phase_threads:
        return progress(segments, None, (), None)
    steps = run.tables.pieces("steps", ("thread_id", "loop_id", "start_ns"))
    return progress(segments, run.tables.get("phase_intervals"), steps, run.stream.meta.get("main_thread"))


def _time_scaled(run: Workspace, found: SampledLines) -> None:
    """Give the lines that were counted in windows their time from samples."""
    table = run.tables.get("lines")
    if table is not None and any(one.thinned for one in found.counting.registered.values()):
        rows = [{**run.process.columns, **row} for row in found.timed(table.to_pylist())]
        run.tables.put({"lines": pa.Table.from_pylist(rows, schema=TABLES["lines"])})


def _counting(run: Workspace) -> Counting:
    """Where lines were counted; nowhere, if there are no counts."""
    path = run.folder.raw / "lines.json"
    if run.tables.get("lines") is None or not path.is_file():
        return Counting()
    version = (run.manifest.interpreter.version or "").split(".")[:2]
    is_new = tuple(int(part) for part in version if part.isdigit()) >= _MONITORING
    return lines_reader.counting(path, run.names, is_new)


def _is_users(run: Workspace, file: str) -> bool:
    return run.names.is_users(file) and not any(part in file for part in combined.generated_files())


def _keep_sources(run: Workspace, files: Iterable[str]) -> None:
    """Copy the files that lines were only seen in; not when tables are made anew, for they may have changed since."""
    if not run.fresh:
        return
    missing = [file for file in files if not run.folder.source_path(file).is_file()]
    cells = {file: run.names.originals[file] for file in missing if run.names.originals.get(file) in run.names.cells}
    plain = {file: run.names.originals.get(file, file) for file in missing if file not in cells}
    sources.keep_cells(run.folder, cells)
    sources.keep_sources(run.folder, plain)


def _say_sampled(run: Workspace, lines: int, functions: int, rates: str) -> None:
    text = (
        f"{lines} {'line' if lines == 1 else 'lines'} of {functions} {'function' if functions == 1 else 'functions'} "
        f"ran where lines are not counted: their time is from samples, {rates} a second; a line seen in n of them "
        "is known to about 1/sqrt(n)."
    )
    run.warn("lines-sampled", "info", text, lines)


def _say_late(run: Workspace, left_ns: int, all_ns: int) -> None:
    if left_ns <= _LATE * all_ns:
        return
    whole, left = f"{all_ns / 1e9:.2f} s", f"{left_ns / 1e9:.2f} s"
    text = (
        f"Of {whole} in which the main thread was sampled, {left} are of no sample that can have stood so long: py-spy "
        "came late, or could not read it. They are of the lines that call all that was seen around them, of no other."
    )
    run.warn("samples-late", "info", text)


def _rates(rate_hz: float, segments: Sequence[Segment]) -> str:
    """Samples a second: `20`, or `20 to 100` where they became more or fewer."""
    rates = [one.rate_hz for one in segments] or [rate_hz]
    return f"{min(rates):g}" if min(rates) == max(rates) else f"{min(rates):g} to {max(rates):g}"


def _say_unseen(run: Workspace, names: Sequence[str]) -> None:
    if not names:
        return
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    text = (
        f"Neither counted nor seen in a sample: {', '.join(names[:_NAMED])}{more}. They did not run, or for shorter "
        "than a sample where lines are not counted, or in another process."
    )
    run.warn("lines-unseen", "info", text, len(names))
