"""What `dlprof gate` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.analysis.gate import Component
from dlprof.report import gate_report
from dlprof.report.gate_report import ComponentReport, Doubtful, Notes, Outcome, Status
from dlprof.report.json_text import plain
from tests.unit.runs import S, trained

WALL = Component("wall", 10 * S, 11 * S, None, False, False)
FIT = Component("fit/steps", 4 * S, 5 * S, (S // 2, 2 * S), False, True)
NEW = Component("save", 0, S, None, False, True)


def test_a_version_that_is_no_slower_passes() -> None:
    """In one line, with the wall time."""
    assert list(gate_report.as_lines(Outcome([WALL], 0.05, "abc", "def"))) == [
        "dlprof gate: ok, nothing grew by more than 5 % beyond noise; wall 10.0 s to 11.0 s (3 runs a side)"
    ]


def test_parts_that_regressed_are_named_and_told_each() -> None:
    """What was not there before is new."""
    assert list(gate_report.as_lines(Outcome([FIT, NEW, WALL], 0.1, "abc", "d"))) == [
        "dlprof gate: FAILED, limit 10 %: fit/steps +25.0 %, save new; wall 10.0 s to 11.0 s (1 run against 3)",
        "  fit/steps: 4.00 s to 5.00 s, 95 % 500 ms to 2.00 s",
        "  save: 0 ns to 1.00 s",
    ]


def test_a_version_that_is_faster_as_a_whole_is_told_to_be() -> None:
    """Though a part of it regressed."""
    faster = Component("wall", 10 * S, 4 * S, None, False, False)

    assert next(gate_report.as_lines(Outcome([FIT, faster], 0.1, "a", "b"))) == (
        "dlprof gate: FAILED, limit 10 %: fit/steps +25.0 %; wall 10.0 s to 4.00 s, faster as a whole by 6.00 s "
        "(1 run a side)"
    )


def test_a_whole_that_is_shorter_within_noise_is_not_called_faster() -> None:
    """Nobody knows."""
    noise = Component("wall", 10 * S, 9 * S, None, True, False)

    assert gate_report.headline(Outcome([noise], 0.1, "a", "b")).endswith("; wall 10.0 s to 9.00 s (1 run a side)")


def test_parts_alone_have_no_wall_time() -> None:
    """It was not asked for."""
    assert next(gate_report.as_lines(Outcome([FIT], 0.1, "a", "b"))).endswith("fit/steps +25.0 %; (1 run a side)")


def test_json_has_the_fields_of_the_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`dlprof.gate/1`, see docs/json.md. Repeats of both sides have the same names: their paths tell them apart."""
    monkeypatch.chdir(tmp_path)
    base, new = (Side(name, (trained(Path("runs") / name / "001"),)) for name in ("base", "new"))

    report = gate_report.as_json(compare.compare(new, base), [FIT, WALL], 0.05)

    assert list(plain(report)) == [
        "schema",
        "passed",
        "max_regression",
        "base",
        "new",
        "comparable",
        "why_not",
        "components",
        "error",
        "status",
        "doubts",
        "differences",
    ]
    assert (report.passed, report.base, report.new) == (False, ("runs/base/001",), ("runs/new/001",))
    assert report.components[0] == ComponentReport("fit/steps", 4 * S, 5 * S, 0.25, (S // 2, 2 * S), False, True)


DOUBTFUL = Component("fit/steps", 4 * S, 5 * S, None, False, False, doubtful=True, lost_ns=S // 2)
LOADED = Notes(doubts=("other programs used 90 % of a core",), differences=("processors: x and y",))


def test_doubtful_parts_make_no_verdict_and_say_what_makes_them_doubtful() -> None:
    """They stand below, with the state of the machine and what else differs."""
    assert list(gate_report.as_lines(Outcome([DOUBTFUL, WALL], 0.05, "a", "b", notes=LOADED))) == [
        (
            "dlprof gate: INCONCLUSIVE: measure again, limit 5 %: doubtful fit/steps +25.0 %; "
            "wall 10.0 s to 11.0 s (1 run a side)"
        ),
        "  fit/steps: 4.00 s to 5.00 s; doubtful: NEW may have lost 500 ms more to the state of the machine than BASE",
        "  doubtful: other programs used 90 % of a core",
        "  differs (NEW and BASE): processors: x and y",
    ]


def test_what_regressed_beyond_doubt_fails_though_other_parts_are_doubtful() -> None:
    """Both are named."""
    assert gate_report.headline(Outcome([NEW, DOUBTFUL, WALL], 0.05, "a", "b")) == (
        "dlprof gate: FAILED, limit 5 %: save new; doubtful fit/steps +25.0 %; wall 10.0 s to 11.0 s (1 run a side)"
    )


@pytest.mark.parametrize(
    ("doubtful", "status"),
    [(Doubtful.AGAIN, Status.INCONCLUSIVE), (Doubtful.FAIL, Status.FAILED), (Doubtful.PASS, Status.OK)],
)
def test_what_a_doubtful_answer_counts_as_is_the_users(doubtful: Doubtful, status: Status) -> None:
    """One that regressed beyond doubt fails whatever was chosen."""
    assert gate_report.status([DOUBTFUL, WALL], doubtful) is status
    assert gate_report.status([DOUBTFUL, FIT], doubtful) is Status.FAILED


def test_why_runs_are_not_comparable_is_said_where_they_are_judged_anyway() -> None:
    """And of a run that was cut short nobody says that it is faster."""
    faster = Component("wall", 10 * S, 4 * S, None, False, False)

    assert list(gate_report.as_lines(Outcome([faster], 0.05, "a", "b", notes=Notes(("A was interrupted",))))) == [
        (
            "dlprof gate: ok (of runs that are not comparable), nothing grew by more than 5 % beyond noise; "
            "wall 10.0 s to 4.00 s (1 run a side)"
        ),
        "  not comparable: A was interrupted (A is NEW, B is BASE); judged anyway",
    ]


def test_a_whole_that_is_shorter_on_another_state_of_the_machine_is_not_called_faster() -> None:
    """Other programs had the cores before."""
    faster = Component("wall", 10 * S, 4 * S, None, False, False)

    assert "faster" not in gate_report.headline(Outcome([faster], 0.05, "a", "b", notes=LOADED))
