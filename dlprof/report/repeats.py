"""What several runs of the same thing have in common, on a terminal."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from dlprof import rundir
from dlprof.analysis import breakdown
from dlprof.analysis.breakdown import Breakdown
from dlprof.report.console import make_page
from dlprof.store.run import Run
from dlprof.units import duration, safe

_LEAST_SHARE = 0.01
"""Parts below this share of the wall time are left out."""


def print_repeats(folder: Path, *, file: TextIO) -> None:
    """Print median, least and most of the wall time and its parts over the runs of a folder.

    Args:
        folder: The folder that holds the runs.
        file: The stream that it is printed to.
    """
    runs = sorted(rundir.find(folder), key=lambda run: run.path.name)
    trees = [tree for run in runs if (tree := breakdown.of_run(Run(run, run.read_manifest()))) is not None]
    page = make_page(file)
    page.title(safe(f"{len(runs)} runs in {folder}"), "median, least and most over the runs")
    if not trees:
        page.say("none of them has phases", indent=2)
        return
    table = page.table(("part", "left"), ("median", "right"), ("least", "right"), ("most", "right"), ("", "left"))
    walls = [tree.wall_ns for tree in trees]
    for name, times in [("wall", walls), *_parts(trees)]:
        median = statistics.median(times)
        if median >= _LEAST_SHARE * statistics.median(walls):
            table.add_row(safe(name), *(duration(ns) for ns in (median, min(times), max(times))), "")
    page.show(table)
    page.say(safe(f"next: dlprof compare {folder} OTHER, dlprof gate {folder} OTHER"), "dim")


def _parts(trees: Sequence[Breakdown]) -> list[tuple[str, list[int]]]:
    """Every part that a run has, with its time in each run (ns)."""
    paths = dict.fromkeys(path for tree in trees for path in tree.leaves)
    return [(path, [tree.leaves.get(path, 0) for tree in trees]) for path in paths]
