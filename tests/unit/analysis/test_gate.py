"""What a slow-down is, part by part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import compare, gate
from dlprof.analysis.compare import Side
from tests.unit import runs
from tests.unit.runs import S


def side(folder: Path, count: int, **seconds: float) -> Side:
    """Runs of some phases, each a little longer than the one before."""
    made = []
    for number in range(count):
        longer = 1 + number / 1000
        wall = sum(seconds.values()) * longer
        told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": round(wall * S)})
        rows = runs.phases(**{name: s * longer for name, s in seconds.items()})
        made.append(runs.trained(folder / f"{number}", told, phases=rows))
    return Side(folder.name, tuple(made))


def judged(tmp_path: Path, new: dict[str, Any], base: dict[str, Any], limit: float = 0.05) -> list[gate.Component]:
    """The parts of three new runs against three old ones."""
    found = compare.compare(side(tmp_path / "new", 3, **new), side(tmp_path / "base", 3, **base))
    return gate.components(found, limit)


def test_what_grew_beyond_noise_and_limit_regressed(tmp_path: Path) -> None:
    """The wall time comes first, then what grew most."""
    found = judged(tmp_path, {"construct": 3, "script": 4}, {"construct": 2, "script": 4})

    assert [(part.name, part.regressed) for part in found] == [
        ("wall", True),
        ("construct", True),
        ("script", False),
    ]
    assert found[1].change == pytest.approx(0.5)


def test_what_grew_within_the_limit_did_not_regress(tmp_path: Path) -> None:
    """Half as much again is let pass at 60 %."""
    found = judged(tmp_path, {"construct": 3, "script": 4}, {"construct": 2, "script": 4}, limit=0.6)

    assert not any(part.regressed for part in found)


def test_a_part_that_is_next_to_nothing_stops_nobody(tmp_path: Path) -> None:
    """40 ms instead of 20 are less than a hundredth of 10 s."""
    found = judged(tmp_path, {"construct": 0.04, "script": 10}, {"construct": 0.02, "script": 10})

    assert {part.name: part.regressed for part in found} == {"wall": False, "construct": False, "script": False}
    assert [part.name for part in found if part.too_small] == ["construct"]


def test_dlprofs_own_time_counts_nowhere(tmp_path: Path) -> None:
    """Neither as a part nor in the wall time."""
    found = judged(tmp_path, {"dlprof": 5, "script": 10}, {"dlprof": 1, "script": 10})

    assert [(part.name, part.base_ns) for part in found] == [("wall", 10_010_000_000), ("script", 10_010_000_000)]
    assert found[0].new_ns == found[0].base_ns


def test_what_was_not_there_before_has_no_change(tmp_path: Path) -> None:
    """A share of nothing is not known."""
    found = judged(tmp_path, {"save": 1, "script": 4}, {"script": 4})

    assert {part.name: part.change for part in found}["save"] is None


@pytest.mark.parametrize(("seconds", "regressed"), [(0.15, False), (0.25, True)])
def test_what_is_new_stops_nobody_below_a_fiftieth_of_the_whole(
    tmp_path: Path, seconds: float, regressed: bool
) -> None:
    """From 0 to 150 ms of 10 s grew beyond any limit in percent, and is next to nothing."""
    found = judged(tmp_path, {"save": seconds, "script": 2}, {"script": 10})

    assert {part.name: part.regressed for part in found}["save"] is regressed
