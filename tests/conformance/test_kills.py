"""Kill -9 at any moment leaves no process, no stray file, and a run that says what happened; see `tests.conformance.kills`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.kills import Drill, Victim, draw, kill_once

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("drill", draw(10, 17, plain=True), ids=lambda one: f"{one.victim}-{one.after_s:.2f}")
def test_after_a_kill_nothing_is_left_and_the_run_is_right(drill: Drill, tmp_path: Path) -> None:
    """It opens, its phases and the rest are its wall time, it names who was killed; the script's exit code is kept."""
    assert list(kill_once(drill, tmp_path / "drill").problems) == []


def test_each_victim_is_drawn_as_often_as_the_others() -> None:
    """Two hundred kills are forty of each, of all of them some in real trainings."""
    drills = draw(200, 1, plain=False)

    assert {victim: sum(one.victim is victim for one in drills) for victim in Victim} == dict.fromkeys(Victim, 40)
    assert {one.victim for one in drills if one.program.case.backend} == set(Victim)
