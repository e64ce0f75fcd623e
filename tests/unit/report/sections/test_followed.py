"""The section of the Pythons that were traced as runs of their own."""

from __future__ import annotations

import io
from typing import Any

from msgspec import structs

from dlprof.report.console import make_page
from dlprof.report.sections import followed
from dlprof.schema.manifest import Followed, FollowedRun
from tests.unit.report.reports import report


def one(number: int, ended: str = "exited", **changes: int) -> FollowedRun:
    """A training of 2 s."""
    told: dict[str, Any] = {"exit_code": 0, "signal": None, "wall_ns": 2_000_000_000, **changes}
    command = f"python train.py --seed {number}"
    return FollowedRun(
        run=f"children/{number:03d}-train", pid=number, parent=1, command=command, ended=ended, engine="jax", **told
    )


def said(told: Followed | None) -> str:
    """The section."""
    out = io.StringIO()
    followed.all_runs(make_page(out, plain=True), structs.replace(report(), followed=told))
    return out.getvalue()


def test_each_run_has_its_command_and_its_end() -> None:
    """And what was passed over is counted."""
    runs = (one(1), one(2, "signalled", signal=9), one(3, "replaced"), one(4, "running"), one(5, "unknown"))
    text = said(Followed(runs=runs, pythons=9, not_followed=1))
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "children/001-train python train.py --seed 1 jax exit code 0 2.00 s" in rows
    assert "children/002-train python train.py --seed 2 jax killed 2.00 s" in rows
    assert "children/003-train python train.py --seed 3 jax replaced (exec) 2.00 s" in rows
    assert "children/004-train python train.py --seed 4 jax still running 2.00 s" in rows
    assert "children/005-train python train.py --seed 5 jax end not known 2.00 s" in rows
    told = " ".join(text.split())
    assert "1 more that loaded an engine: not followed; 3 other Pythons without an engine" in told


def test_none_is_told_apart_from_not_asked() -> None:
    """`not measured`, or how many Pythons there were."""
    assert "not measured, because it was not asked for" in said(None)
    assert "no Python began below it" in said(Followed())


def test_the_answer_has_the_first_of_them() -> None:
    """And how many more there are."""
    told = Followed(runs=tuple(one(number) for number in range(1, 9)), pythons=8)
    page = make_page(io.StringIO(), plain=True)
    lines = [line.plain for line in followed.lines(page, structs.replace(report(), followed=told))]
    assert len(lines) == 7
    assert lines[-1] == "2 more; 8 followed: dlprof report RUN/children/..."
