"""What a planted cause costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.trials.exam import costs, truths
from tests.unit.runs import S
from tests.unit.trials.exam.cases import GOOD, lasted, truth


def test_a_cost_is_the_difference_of_the_fastest_runs(tmp_path: Path) -> None:
    """9 s, the fastest with the cause, less 6 s, the fastest without it; the ends of the process do not count."""
    one = truths.load(truth(tmp_path, GOOD))[0]
    times = ((10, 11, 8), (9, 12, 6))
    rounds = [
        costs.Round(*(costs.timed(one, lasted(tmp_path / f"{n}-{m}", seconds)) for m, seconds in enumerate(row)))
        for n, row in enumerate(times)
    ]

    assert costs.cost(one, rounds) == 3 * S
    assert costs.doubt(rounds[:1]) is None


def test_a_cause_that_comes_by_chance_is_examined_where_it_came(tmp_path: Path) -> None:
    """In the slower run with all probes, of 10 s: 4 s more than the fastest clean one."""
    one = truths.load(truth(tmp_path, GOOD.replace("slow-callback", "iterator-restart")))[0]
    times = ((10, 7, 8), (6, 12, 6))
    rounds = [
        costs.Round(*(costs.timed(one, lasted(tmp_path / f"{n}-{m}", seconds)) for m, seconds in enumerate(row)))
        for n, row in enumerate(times)
    ]

    assert costs.cost(one, rounds) == 4 * S


def test_an_exam_goes_on_while_the_fastest_runs_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rounds whose clean runs differ by 2 s of a cost of 5 s, and a third that is like the first: 0.2 s."""
    one = truths.load(truth(tmp_path, GOOD))[0]
    times = iter([(9.1, 9, 4), (9.5, 9.6, 6), (9.7, 9, 4.1), (20, 20, 20)])

    def made(_truth: truths.Truth, _folder: Path, number: int) -> costs.Round:
        return costs.Round(
            *(costs.timed(one, lasted(tmp_path / f"{number}-{m}", seconds)) for m, seconds in enumerate(next(times)))
        )

    monkeypatch.setattr(costs, "_round", made)
    rounds = costs.made_rounds(one, tmp_path, 2)

    assert len(rounds) == 3
    assert costs.doubt(rounds) == pytest.approx(0.1 * S)


def test_the_ends_of_a_process_count_where_the_cause_is_an_import(tmp_path: Path) -> None:
    """10 s in all, of which 4 are import and teardown."""
    slow, heavy = (
        truths.load(truth(tmp_path, GOOD.replace("slow-callback", slug)))[0]
        for slug in ("slow-callback", "import-heavy")
    )
    run = lasted(tmp_path / "r", 10)

    assert (costs.counted_ns(slow, run), costs.counted_ns(heavy, run)) == (6 * S, 10 * S)


@pytest.mark.parametrize(("backend", "counted_s"), [("torch", 6), ("tensorflow", 5)])
def test_what_comes_by_chance_counts_nowhere_it_can_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str, counted_s: int
) -> None:
    """On an engine that tunes its input pipelines a restart of them took 1 s of the 6."""
    one = replace(truths.load(truth(tmp_path, GOOD))[0], backend=backend)
    restart = SimpleNamespace(slug="iterator-restart", at_stake_ns=1 * S)
    monkeypatch.setattr(diagnose, "diagnose", lambda _run: SimpleNamespace(findings=[restart]))

    assert costs.counted_ns(one, lasted(tmp_path / "r", 10)) == counted_s * S
