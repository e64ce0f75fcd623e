"""What several runs of the same thing have in common, on a terminal."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TextIO

from dlprof import rundir
from dlprof.analysis import breakdown
from dlprof.report.console import Page, is_ascii, make_console
from dlprof.store.run import Run
from dlprof.units import duration, safe

_LEAST_SHARE = 0.01


def print_repeats(folder: Path, *, file: TextIO) -> None:
    """Print median, least and most of the wall time and its parts over the runs of a folder."""
    found = sorted(rundir.find(folder), key=lambda run: run.path.name)
    trees = [tree for run in found if (tree := breakdown.of_run(Run(run, run.read_manifest()))) is not None]
    page = Page(make_console(file), ascii_only=is_ascii(file, plain=False))
    page.title(safe(f"{len(found)} runs in {folder}"), "median, least and most over the runs")
    if not trees:
        page.say("none of them has phases", indent=2)
        return
    table = page.table(("part", "left"), ("median", "right"), ("least", "right"), ("most", "right"), ("", "left"))
    wall = statistics.median(tree.wall_ns for tree in trees)
    parts = dict.fromkeys(path for tree in trees for path in tree.leaves)
    rows = [("wall", [tree.wall_ns for tree in trees])]
    rows += [(path, [tree.leaves.get(path, 0) for tree in trees]) for path in parts]
    for name, times in rows:
        if statistics.median(times) >= _LEAST_SHARE * wall:
            table.add_row(safe(name), *(duration(ns) for ns in (statistics.median(times), min(times), max(times))), "")
    page.show(table)
    page.say(safe(f"next: dlprof compare {folder} OTHER, dlprof gate {folder} OTHER"), "dim")
