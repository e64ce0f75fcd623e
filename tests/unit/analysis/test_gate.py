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


def loaded(folder: Path, others_pct: float, **seconds: tuple[float, float]) -> Side:
    """A run in which other programs took a share of a core; of phases their seconds, and those waited for a core."""
    wall = sum(whole for whole, _ in seconds.values())
    told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": round(wall * S)})
    time, ran, waited, stretches, samples = 0.0, 0.0, 0.0, [], [(0.0, 0.0, 0.0)]
    for name, (whole, lost) in seconds.items():
        stretches.append((name, time, time + whole))
        time, ran, waited = time + whole, ran + whole - lost, waited + lost
        samples.append((time, ran, waited))
    rows = [
        {
            "time_ns": round(at * S),
            "interval_ns": S,
            "rss_bytes": S,
            "main_run_ns": round(x * S),
            "main_wait_ns": round(y * S),
        }
        for at, x, y in samples
    ]
    made = runs.trained(
        folder,
        told,
        phases=runs.phases(**{name: whole for name, (whole, _) in seconds.items()}),
        phase_intervals=runs.intervals(*stretches),
        process_samples=rows,
        machine=[{"time_ns": round(time * S), "interval_ns": round(time * S), "others_cpu_pct": others_pct}],
    )
    return Side(folder.name, (made,))


def states(new: Side, base: Side) -> dict[str, str]:
    """How each part is judged at 5 %."""
    found = gate.components(compare.compare(new, base), 0.05)
    return {part.name: "regressed" if part.regressed else "doubtful" if part.doubtful else "" for part in found}


CALM = {"import": (2.0, 0.0), "script": (4.0, 0.0)}


def test_growth_that_the_main_thread_waited_for_a_core_is_doubtful(tmp_path: Path) -> None:
    """Of 2 s that the import took longer it waited 1.8 for a core that other programs had."""
    new = loaded(tmp_path / "new", 120.0, **{"import": (4.0, 1.8), "script": (4.0, 0.0)})

    assert states(new, loaded(tmp_path / "base", 2.0, **CALM)) == {
        "wall": "doubtful", "import": "doubtful", "script": "",
    }  # fmt: skip


def test_threads_that_wait_for_each_other_alone_are_no_excuse(tmp_path: Path) -> None:
    """No other program used a core: the change made threads that are in each other's way."""
    new = loaded(tmp_path / "new", 2.0, **{"import": (4.0, 1.8), "script": (4.0, 0.0)})

    assert states(new, loaded(tmp_path / "base", 2.0, **CALM)) == {
        "wall": "regressed", "import": "regressed", "script": "",
    }  # fmt: skip


def test_growth_of_which_the_load_explains_little_regressed(tmp_path: Path) -> None:
    """0.3 of 2 s: the rest is far beyond the limit."""
    new = loaded(tmp_path / "new", 120.0, **{"import": (4.0, 0.3), "script": (4.0, 0.0)})

    assert states(new, loaded(tmp_path / "base", 2.0, **CALM))["import"] == "regressed"


def test_a_base_that_was_held_up_may_hide_a_slow_down(tmp_path: Path) -> None:
    """Of its 4 s of import it waited 2: the 3.5 s of now may be 1.5 more, and as many seconds less."""
    base = loaded(tmp_path / "base", 120.0, **{"import": (4.0, 2.0), "script": (4.0, 0.0)})

    slower = loaded(tmp_path / "slower", 2.0, **{"import": (3.5, 0.0), "script": (4.0, 0.0)})
    alike = loaded(tmp_path / "alike", 2.0, **{"import": (2.0, 0.0), "script": (4.0, 0.0)})
    assert states(slower, base) == {"wall": "doubtful", "import": "doubtful", "script": ""}
    assert states(alike, base) == {"wall": "", "import": "", "script": ""}


def test_growth_on_another_kind_of_machine_is_doubtful(tmp_path: Path) -> None:
    """Nobody knows how fast it is; what did not grow passes."""
    sides = [
        Side("x", (runs.trained(
            tmp_path / cpu,
            runs.manifest(machine={**runs.manifest()["machine"], "cpu": cpu},
                          process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": (4 + long) * S}),
            phases=runs.phases(**{"import": long, "script": 4.0})),))
        for cpu, long in (("fast", 2), ("slow", 4))
    ]  # fmt: skip

    assert states(sides[1], sides[0]) == {"wall": "doubtful", "import": "doubtful", "script": ""}
    assert states(sides[0], sides[1]) == {"wall": "", "import": "", "script": ""}


def spread(folder: Path, *runs_of_side: dict[str, float]) -> Side:
    """A run for each set of phases (s)."""
    return Side(
        folder.name, tuple(run for n, one in enumerate(runs_of_side) for run in side(folder / f"{n}", 1, **one).runs)
    )


def test_of_many_parts_one_that_is_just_beyond_noise_by_itself_is_noise(tmp_path: Path) -> None:
    """Its 95 % interval lies above 0 : among nine parts that happens by chance; asked for alone it counts."""
    rest = {"startup": 1.0, "construct": 1.0, "compile": 1.0, "script": 1.0, "data": 1.0, "save": 1.0, "teardown": 1.0}
    new = spread(tmp_path / "new", *({**rest, "import": s} for s in (1.30, 1.40, 1.50)))
    base = spread(tmp_path / "base", *({**rest, "import": s} for s in (1.00, 1.10, 1.15)))
    found = compare.compare(new, base)

    (among,) = [part for part in gate.components(found, 0.05) if part.name == "import"]
    (alone,) = gate.components(found, 0.05, {"import"})
    assert among.ci_ns is not None and among.ci_ns[0] > 0
    assert (among.noise, among.regressed) == (True, False)
    assert (alone.noise, alone.regressed) == (False, True)


@pytest.mark.parametrize(("seconds", "regressed"), [(0.45, False), (0.65, True)])
def test_of_single_runs_a_part_is_noise_below_a_twentieth_of_the_whole(
    tmp_path: Path, seconds: float, regressed: bool
) -> None:
    """0.1 s more became 0.45 or 0.65 beside 10 s: by itself it tells no more than its noise."""
    found = compare.compare(
        side(tmp_path / "new", 1, construct=seconds, script=10), side(tmp_path / "base", 1, construct=0.1, script=10)
    )

    (part,) = [one for one in gate.components(found, 0.05) if one.name == "construct"]
    assert (part.noise, part.regressed) == (not regressed, regressed)
