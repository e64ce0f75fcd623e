"""dlprof's own cost, as one account."""

from __future__ import annotations

import pytest

from dlprof.report import overhead_words
from dlprof.report.model import Overhead, PhaseTime, ProbeCost, Report
from tests.unit.report.reports import report
from tests.unit.runs import MS


def cost(name: str, tax_ms: int | None) -> ProbeCost:
    """A probe that the run waited for so long."""
    return ProbeCost(name, "on", None, None, None, tax_ns=None if tax_ms is None else tax_ms * MS)


def costly(**changes: object) -> Report:
    """A run of 10 s of which dlprof took 450 ms."""
    probes = (cost("phases", 160), cost("lines", 15), cost("kernels", 25), cost("stacks", 170), cost("cores", 80))
    own = PhaseTime("dlprof", None, 180 * MS, 3)
    return report(
        **{
            "probes": (*probes, cost("gpu", None)),
            "phases": (own,),
            "overhead": Overhead(450 * MS, 0.045, 0.01),
            **changes,
        }
    )


def test_the_account_is_a_share_and_what_it_is_the_sum_of() -> None:
    """The phase `dlprof` is a part of what ran in the process, and the helpers wait for nobody."""
    assert overhead_words.account(costly()) == (
        "4.50 % of the run, over the budget of 1 %: in the process 200 ms (starting, ending and looking, phase dlprof: "
        "180 ms; hooks and traced steps: 20.0 ms), waiting for its helpers 250 ms"
    )


def test_a_phase_that_is_not_part_of_what_probes_told_is_not_put_into_it() -> None:
    """Such as where a probe could not say what it cost."""
    assert overhead_words.parts(costly(phases=(PhaseTime("dlprof", None, 300 * MS, 3),))) == (
        "in the process 200 ms, waiting for its helpers 250 ms"
    )


@pytest.mark.parametrize(
    ("told", "over"),
    [
        (Overhead(None, None, 0.01), False),
        (Overhead(5, 0.004, 0.01), False),
        (Overhead(5, 0.03, 0.01), True),
        (Overhead(5, 0.03, None), False),
    ],
    ids=["not known", "within", "over", "no budget"],
)
def test_what_is_over_the_budget_is_told_to_be(told: Overhead, over: bool) -> None:
    """Only where both are known."""
    assert overhead_words.is_over(report(overhead=told)) is over


def test_nothing_is_told_where_nothing_is_known() -> None:
    """As of a run without probes."""
    assert overhead_words.account(report()) == ""
