"""The page over all runs of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from dlprof.report.html import page, trends
from dlprof.report.run_index import RunIndex


def make(index: RunIndex, links: Mapping[str, str]) -> str:
    """The page of a folder.

    Args:
        index: Its runs.
        links: Name of a run to the address of its page, for those that have one.
    """
    drawn = trends.of_runs(index.runs)
    return page.without_charts(
        "index.html",
        title=f"Runs in {index.folder}",
        index=index,
        links=links,
        trends=drawn,
        size_px=(trends.WIDTH, trends.HEIGHT),
        not_read=sum(1 for run in index.runs if run.figures.unknown.startswith("not read here")),
        has_arguments=any(run.arguments for run in index.runs),
        machine={"runs.json": index},
    )


def served(index: RunIndex) -> dict[str, str]:
    """Links to all runs, where a server makes their pages."""
    return {run.listed.run: quoted(run.listed.run) for run in index.runs}


def quoted(name: str) -> str:
    """Address of a run's page below that of the index."""
    return f"run/{quote(name, safe='')}/"
