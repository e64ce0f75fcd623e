"""What dlprof itself took of a run, as one account, in the same words wherever it is told.

What the run waited for (`overhead`) is what ran in its process (hooks, windows, start and end) and what it waited for
helpers beside it: py-spy and the sampler, whose CPU time a run only feels where no core is free.
"""

from __future__ import annotations

from dlprof.analysis import overhead
from dlprof.report.model import Report
from dlprof.schema.vocabulary import Phase
from dlprof.units import duration

HELPERS = "dlprof's helpers"
"""What runs beside the process, as its use of cores is told."""
_MOSTLY = 0.5


def account(report: Report) -> str:
    """The share of the run, whether that was within the budget, and what it is the sum of; empty: it is not known."""
    return ": ".join(part for part in (share(report), parts(report)) if part)


def share(report: Report) -> str:
    """The share of the run, and whether that was within the budget; empty: it is not known."""
    told = report.overhead
    return "" if told.share is None else f"{100 * told.share:.2f} % of the run{_budget(report)}"


def parts(report: Report) -> str:
    """What the share is the sum of; empty: it is not known of any probe."""
    return ", ".join(part for part in (_inside(report), _beside(report)) if part)


def is_over(report: Report) -> bool:
    """Whether it took more than the budget."""
    told = report.overhead
    return told.share is not None and told.budget is not None and told.share > told.budget


def is_mostly_once(report: Report) -> bool:
    """Whether most of it is in spans of its own, as at the start and the end: a longer run has hardly more of them."""
    return _own_ns(report) > _MOSTLY * sum(probe.tax_ns or 0 for probe in report.probes)


def _budget(report: Report) -> str:
    budget = report.overhead.budget
    if budget is None:
        return ""
    return f", {'over the' if is_over(report) else 'of a'} budget of {100 * budget:g} %"


def _inside(report: Report) -> str:
    """What ran in the process: in spans of its own, which are the phase `dlprof`, and in hooks and traced steps."""
    taken = sum(probe.tax_ns or 0 for probe in report.probes if probe.name not in overhead.BESIDE)
    if not taken:
        return ""
    own = _own_ns(report)
    split = (
        f"starting, ending and looking, phase dlprof: {duration(own)}; hooks and traced steps: {duration(taken - own)}"
    )
    return f"in the process {duration(taken)}{f' ({split})' if 0 < own <= taken else ''}"


def _own_ns(report: Report) -> int:
    return sum(phase.dur_ns for phase in report.phases if phase.name == Phase.DLPROF)


def _beside(report: Report) -> str:
    waited = sum(probe.tax_ns or 0 for probe in report.probes if probe.name in overhead.BESIDE)
    return f"waiting for its helpers {duration(waited)}" if waited else ""
