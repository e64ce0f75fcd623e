"""Takes in who allocated memory, where that was recorded, and says what became of the recording."""

from __future__ import annotations

from pathlib import Path

from dlprof.ingest.own import heap as reader
from dlprof.launch.heap import FILE, SUMS
from dlprof.pipeline.workspace import Workspace

_RECORDED = "memray recorded each allocation of this run: the script took longer than it does without --heap."
_NOT_SUMMED = "What memray recorded was not summed up, so that nobody knows who allocated memory: "


def add(run: Workspace) -> None:
    """Take in the sums, if there are any."""
    raw = run.folder.raw
    if (raw / SUMS).is_file():
        run.read(raw / SUMS, lambda path: _add(run, path))
    elif (raw / FILE).is_file():
        run.warn("heap-not-summed", "warning", f"{_NOT_SUMMED}dlprof was ended before. raw/{FILE} has it, for memray.")


def _add(run: Workspace, path: Path) -> None:
    sums = reader.read(path)
    run.warn("heap-recorded", "info", _RECORDED)
    if sums.failed is not None:
        run.warn("heap-not-summed", "warning", f"{_NOT_SUMMED}{sums.failed}. raw/{FILE} has it, for memray.")
        return
    anchor = run.manifest.clock.anchor_start
    if anchor is None:
        run.warn("heap-not-summed", "warning", f"{_NOT_SUMMED}when the run began is not known.")
        return
    to_run_ns = anchor.perf_ns - anchor.wall_ns - run.process.origin_ns
    run.tables.put(reader.tables(sums, run.process, run.names, to_run_ns))
