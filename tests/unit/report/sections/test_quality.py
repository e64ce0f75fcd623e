"""What measuring cost, and what went wrong with it, on a terminal."""

from __future__ import annotations

import pytest

from dlprof.report.model import HealthLine, Overhead, ProbeCost
from dlprof.report.sections import quality
from dlprof.schema.manifest import Thinned
from tests.unit.report.reports import printed, report, rows
from tests.unit.runs import MS


def test_a_probe_has_its_cost_and_how_it_is_known() -> None:
    """Or why it measured nothing."""
    probes = (
        ProbeCost("phases", "on", None, 5 * MS, "measured"),
        ProbeCost("gpu", "unavailable", "no driver", None, None),
    )

    assert rows(printed(quality.costs, report(probes=probes))[2:]) == [
        ["phases", "on", "5.00 ms", "-", "measured"],
        ["gpu", "unavailable", "-", "-", "no driver"],
    ]


def test_what_was_thinned_is_said_beside_the_cost() -> None:
    """From what to what, and why."""
    told = Thinned(what="samples per second", before=20.0, to=2.5, why="they would have cost 3 %")
    probes = (ProbeCost("stacks", "on", None, 5 * MS, "measured", told),)

    assert rows(printed(quality.costs, report(probes=probes))[2:]) == [
        [
            "stacks",
            "on",
            "5.00 ms",
            "-",
            "measured; thinned from 20 to 2.5 samples per second: they would have cost 3 %",
        ],
    ]


def test_health_names_what_went_wrong_and_its_slug() -> None:
    """With how bad it is."""
    health = (HealthLine("stacks-lost", "warning", "py-spy was\x1b killed", None),)

    (line,) = [line.strip() for line in printed(quality.health, report(health=health))[1:]]

    assert line == "warning: py-spy was\N{REPLACEMENT CHARACTER} killed [stacks-lost]"


def test_a_run_in_which_all_went_well_says_so() -> None:
    """In one line."""
    assert [line.strip() for line in printed(quality.health, report())] == [
        "Health",
        "nothing was dropped, cut or killed",
    ]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (Overhead(None, None, 0.01), "what each probe cost, as far as known"),
        (Overhead(5, 0.004, None), "what the run waited for: 0.40 % of the run"),
        (
            Overhead(5, 0.004, 0.01),
            "what the run waited for: 0.40 % of the run, of a budget of 1 %",
        ),
        (
            Overhead(5, 0.03, 0.01),
            "what the run waited for: 3.00 % of the run, over the budget of 1 %",
        ),
    ],
)
def test_the_ledger_says_whether_the_budget_was_kept(told: Overhead, said: str) -> None:
    """Of the wall time."""
    assert quality.spent(report(overhead=told)) == said


def test_the_ledger_ends_with_what_all_of_it_is_the_sum_of() -> None:
    """In the words of the short report."""
    probes = (
        ProbeCost("phases", "on", None, 5 * MS, "measured", tax_ns=5 * MS),
        ProbeCost("stacks", "on", None, 9 * MS, "measured", tax_ns=3 * MS),
    )

    last = printed(quality.costs, report(probes=probes, overhead=Overhead(8 * MS, 0.0008, 0.01)))[-1]
    assert last == "  in all: in the process 5.00 ms, waiting for its helpers 3.00 ms"
