"""A history as text."""

from __future__ import annotations

from msgspec import structs

from dlprof.history import tables
from dlprof.history.report import (
    CauseReport,
    ChangeReport,
    CommitReport,
    HistoryReport,
    LevelChange,
    PartChange,
    Point,
    SeriesReport,
)
from tests.unit.runs import S

COMMITS = tuple(
    CommitReport(letter * 40, f"2026-11-2{n}T10:00:00+00:00", f"{subject}\x1b[31m", letter != "b", ())
    for n, (letter, subject) in enumerate([("a", "Begin"), ("b", "Skip"), ("c", "Log each batch")])
)
SERIES = SeriesReport(
    "train", "torch", "wall_s", "whole process (s)", (Point("a" * 40, 2.0, (2.0,)), Point("c" * 40, 3.0, (3.0,)))
)
CHANGE = ChangeReport(
    work="train",
    backend="torch",
    commit="c" * 40,
    date="2026-11-22",
    subject="Log each batch",
    before="a" * 40,
    between=1,
    measures=(LevelChange("wall_s", 2.0, 3.0, 0.5),),
    parts=(PartChange("fit/callbacks", S, 2 * S, S, (S // 2, 2 * S)),),
    why_no_parts=None,
    cause=CauseReport("io-bound", "Files", "It writes.", S, "train.py", 7, "Write less."),
)
FOUND = HistoryReport(name="m", commits=COMMITS, repeat=3, series=(SERIES,), changes=(CHANGE,), least_share=0.05)


def test_commits_are_a_table_and_changes_are_told_below() -> None:
    """Commits that were not measured are left out; subjects cannot steer a terminal."""
    assert tables.as_text(FOUND).splitlines() == [
        "train on torch: medians of 3 runs",
        "  commit        date          wall_s",
        "  aaaaaaaaaaaa  2026-11-20         2  #############         Begin�[31m",
        "  cccccccccccc  2026-11-22         3  ####################  Log each batch�[31m <- wall_s +50.0 %",
        "",
        "cccccccccccc made train on torch slower: Log each batch",
        "  wall_s                  2 to        3  +50.0 %",
        "  or one of the 1 commit after aaaaaaaaaaaa, which could not be measured",
        "  fit/callbacks: 1.00 s to 2.00 s, +1.00 s, 95 % 500 ms to 2.00 s",
        "  cause at train.py:7: It writes.",
    ]


def test_no_change_is_said_and_failures_are_named() -> None:
    """With the limit below which nothing is told."""
    failed = structs.replace(COMMITS[1], failed=("exit code 1: boom",))
    text = tables.as_text(structs.replace(FOUND, changes=(), commits=(COMMITS[0], failed)))

    assert "Nothing changed by 5 % or more." in text
    assert text.endswith("\nbbbbbbbbbbbb failed: exit code 1: boom\n")


def test_that_nothing_changed_is_little_where_each_commit_has_one_run() -> None:
    """A large difference may stand in the table above all the same."""
    twice = structs.replace(SERIES, points=(Point("a" * 40, 2.0, (1.9, 2.1)), SERIES.points[1]))
    of = {one: tables.as_text(structs.replace(FOUND, changes=(), series=(one,))) for one in (SERIES, twice)}

    assert "Each commit has one run: how far runs of one commit differ is not known" in of[SERIES]
    assert "Each commit has one run" not in of[twice]


def test_a_change_for_the_better_is_told_as_one() -> None:
    """And why its parts are not."""
    better = structs.replace(
        CHANGE, measures=(LevelChange("wall_s", 3.0, 2.0, -1 / 3),), parts=(), why_no_parts="it is odd", cause=None
    )

    lines = tables.as_text(structs.replace(FOUND, changes=(better,))).splitlines()

    assert "cccccccccccc made train on torch faster: Log each batch" in lines
    assert lines[-1] == "  by parts: not told, because it is odd"


def test_a_change_in_doubt_is_told_as_one() -> None:
    """With the reasons, and what is within noise or kept its level."""
    doubtful = structs.replace(
        CHANGE,
        between=0, parts=(), cause=None, why_no_parts="the change is not certain",
        measures=(LevelChange("wall_s", 2.0, 3.0, 0.5, beyond_noise=False),),
        unchanged=(LevelChange("step_ms", 0.258, 0.26, 0.0078, beyond_noise=False),),
        doubts=("within noise: runs differ", "no file of the benchmark changed: README.md"),
        level_commits=(1, 4),
    )  # fmt: skip

    lines = tables.as_text(structs.replace(FOUND, changes=(doubtful,))).splitlines()

    assert lines[3].endswith(" <- perhaps wall_s +50.0 %")
    assert lines[5:] == [
        "cccccccccccc perhaps made train on torch slower: Log each batch",
        "  within noise: runs differ",
        "  no file of the benchmark changed: README.md",
        "  wall_s                  2 to        3  +50.0 %, within noise",
        "  step_ms             0.258 to     0.26  +0.8 %, no change of its level (these two commits alone)",
        "  (medians of the levels' medians: 1 commit before, 4 commits from it on)",
        "  by parts: not told, because the change is not certain",
    ]


def test_other_programs_are_told() -> None:
    """Runs that were left out, and those that could not be."""
    points = (Point("a" * 40, 2.0, (2.0, 2.1), left_out=1), Point("c" * 40, 3.0, (3.0, 3.1)))
    of = structs.replace(COMMITS[0], others_share=(0.0, 0.1, 0.5))
    loaded = structs.replace(COMMITS[2], others_share=(0.3, 0.7))
    series = (structs.replace(SERIES, points=points),)

    told = list(tables.of_others(structs.replace(FOUND, series=series, commits=(of, loaded))))

    assert told == [
        "1 run was left out: other programs used more than 25 % of the machine meanwhile.",
        (
            "Other programs used more than 25 % of the machine in 3 of 5 runs, up to 70 %: "
            "times are longer and differ more than alone."
        ),
    ]
    assert list(tables.of_others(FOUND)) == []
