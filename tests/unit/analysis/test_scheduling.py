"""How the traced process shared the cores with others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import scheduling
from dlprof.analysis.scheduling import MainThread, Threads
from dlprof.schema.tree_paths import Tree
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import MS, S


def sampled(path: Path, *rows: tuple[float, float, float]) -> Run:
    """A run of 2 s of import, 6 s of fit and 2 s of teardown: (moment, ran, waited) of its main thread in seconds."""
    samples = [
        {
            "time_ns": int(at * S),
            "interval_ns": S,
            "rss_bytes": S,
            "run_ns": int(ran * S),
            "wait_ns": int(waited * S),
            "main_run_ns": int(ran * S),
            "main_wait_ns": int(waited * S),
        }
        for at, ran, waited in rows
    ]
    return runs.trained(path / "r", process_samples=samples)


def test_a_thread_that_ends_takes_its_time_with_it() -> None:
    """From 5 to 2 nothing was gained; what comes after counts."""
    assert scheduling.growth_over_threads([1, 5, 2, 4]) == 6


def test_threads_are_those_of_samples_around_a_stretch_of_time(tmp_path: Path) -> None:
    """From 2 s to 8 s they ran for 4 s, and waited for 1; one sample alone tells no growth."""
    run = sampled(tmp_path, (2, 1, 0), (8, 5, 1))

    assert scheduling.threads(run, (2 * S, 8 * S)) == Threads(4 * S, S)
    assert scheduling.threads(run, (2 * S, 3 * S)) is None


def test_a_row_of_the_machine_counts_by_how_much_of_the_stretch_it_speaks_of(tmp_path: Path) -> None:
    """False before: the last tenth of a second counted as much as the four before it. A row that says nothing does not."""
    rows = [(2, 2, 10.0), (6, 4, 20.0), (6.1, 0.1, 100.0), (7, 0.9, None)]
    machine = [{"time_ns": int(at * S), "interval_ns": int(last * S), "others_cpu_pct": pct} for at, last, pct in rows]
    run = runs.trained(tmp_path / "r", machine=machine)

    mean = scheduling.mean_of_machine(run, (1 * S, 8 * S), "others_cpu_pct")
    assert mean == pytest.approx((1 * 10 + 4 * 20 + 0.1 * 100) / 5.1, rel=1e-3)
    assert scheduling.mean_of_machine(run, (20 * S, 21 * S), "others_cpu_pct") == pytest.approx(18.03, rel=1e-3)


def test_what_the_main_thread_did_not_do_on_the_cores_it_stood_still(tmp_path: Path) -> None:
    """Of 2 s of import it ran for half a second, and waited for half of one; it had run for nothing when it began."""
    run = sampled(tmp_path, (1, 0.25, 0.25), (2, 0.5, 0.5), (8, 6.5, 0.5))

    assert scheduling.main_thread(run, Tree.IMPORT) == MainThread(S // 2, S // 2, S)


def test_of_a_phase_behind_the_last_sample_nothing_is_known(tmp_path: Path) -> None:
    """The end of the process."""
    assert scheduling.main_thread(sampled(tmp_path, (1, 1, 0), (8, 7, 0)), Tree.TEARDOWN) is None


def test_a_phase_that_most_samples_cover_is_scaled(tmp_path: Path) -> None:
    """1.5 s of 2 s of teardown, all of it on a core."""
    run = sampled(tmp_path, (8, 7, 0), (9.5, 8.5, 0))

    assert scheduling.main_thread(run, Tree.TEARDOWN) == MainThread(2 * S, 0, 0)


@pytest.mark.parametrize(("cpu_ns", "share"), [(6 * S, 0.25), (None, None)])
def test_a_quota_holds_back_a_share_of_the_time(tmp_path: Path, cpu_ns: int | None, share: float | None) -> None:
    """2 s beside 6 s on a core; not known where it is not known how long the process ran."""
    told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": 10 * S, "cpu_user_ns": cpu_ns})
    rows = [{"time_ns": n * S, "interval_ns": S, "throttled_ns": n * S} for n in (1, 3)]

    assert scheduling.held_back(runs.trained(tmp_path / "r", told, machine=rows)) == share


@pytest.mark.parametrize(("steal", "share"), [(10.0, 0.1), (1.0, None)])
def test_what_a_host_takes_of_the_cores_is_usual_up_to_a_fiftieth(
    tmp_path: Path, steal: float, share: float | None
) -> None:
    """A tenth is not."""
    rows: list[dict[str, Any]] = [{"time_ns": S, "interval_ns": S, "core": 0, "busy_pct": 90.0, "steal_pct": steal}]

    assert scheduling.stolen(runs.trained(tmp_path / "r", cores=rows)) == share


def test_the_clock_is_that_of_cores_that_were_busy(tmp_path: Path) -> None:
    """An idle one may be slow."""
    rows = [
        {"time_ns": S, "interval_ns": S, "core": core, "busy_pct": busy, "freq_mhz": mhz}
        for core, busy, mhz in ((0, 90.0, 3000.0), (1, 5.0, 800.0))
    ]

    assert scheduling.core_clock(runs.trained(tmp_path / "r", cores=rows)) == 3000.0


def test_without_steps_the_whole_run_is_the_training(tmp_path: Path) -> None:
    """With some it is from the first to the last."""
    assert scheduling.training_span(runs.trained(tmp_path / "a", steps=[]), 10 * S) == (0, 10 * S)
    assert scheduling.training_span(runs.trained(tmp_path / "b", steps=runs.steps(10)), 10 * S) == (
        2 * S,
        2 * S + 200 * MS,
    )
