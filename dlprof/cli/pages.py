"""What `dlprof report`, `dlprof compare` and `dlprof view` need to make a page."""

from __future__ import annotations

from collections.abc import Sequence


def of_run(name: str, *, rebuild: bool = False) -> str:
    """The page of a run, by its name."""
    from dlprof.analysis.findings import diagnose
    from dlprof.errors import UsageError
    from dlprof.pipeline.opening import open_run
    from dlprof.report.html import page
    from dlprof.trials import confirm

    run = open_run(name, rebuild=rebuild)
    found, why = None, ""
    try:
        found = confirm.with_trials(run, diagnose.diagnose(run))
    except UsageError as error:
        why = error.message
    return page.of_run(run, found, why)


def of_comparison(names: Sequence[str]) -> str:
    """The page of a comparison, by the names of its two sides."""
    from dlprof.analysis import compare, line_pairs
    from dlprof.analysis.findings import diagnose
    from dlprof.errors import UsageError
    from dlprof.pipeline.opening import open_sides
    from dlprof.report.html import page

    a, b = open_sides(names)
    gap = compare.compare(a, b)
    found, why = None, ""
    try:
        found = diagnose.diagnose_gap(gap)
    except UsageError as error:
        why = error.message
    return page.of_comparison(gap, line_pairs.join(a.runs, b.runs), found, why)
