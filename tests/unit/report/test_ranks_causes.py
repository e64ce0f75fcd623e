"""What the report of ranks says first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import ranks
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.report import ranks_causes
from dlprof.report.ranks_causes import RanksCauses
from dlprof.schema.vocabulary import Basis
from tests.unit import ranked_runs
from tests.unit.analysis.test_rank_contention import samples as cpu
from tests.unit.runs import S


def found(folder: Path, own_ms: dict[int, float], **changes: Any) -> RanksCauses:
    """The causes of a run of ranks of 10 s."""
    ranked = ranked_runs.make(folder, own_ms, **changes)
    told = ranks_causes.of_run(ranked, ranks.of_run(ranked))
    assert told is not None
    return told


def test_what_ended_the_training_needs_no_other_cause(tmp_path: Path) -> None:
    """Rank 1 failed: what it lost before is not the question."""
    process = {"pid": 42, "exit_code": 3, "signal": None, "wall_ns": 5}
    told = found(tmp_path, {0: 5, 1: 5}, rank_1={"steps": ranked_runs.steps(1)[:7], "told": {"process": process}})
    assert [cause.slug for cause in told.together] == ["rank-failed"]
    assert told.alone == ()


def test_a_rank_that_the_others_wait_for_stands_for_all(tmp_path: Path) -> None:
    """40 steps in which rank 1 takes 7 ms more: 0.3 of 10 s explain little, so that its own causes follow."""
    told = found(tmp_path, {0: 5, 1: 12})
    assert [cause.slug for cause in told.together] == ["straggler"]
    assert [cause.slug for cause in told.alone] == ["slow-callback"]
    assert told.rank == 1


def test_where_it_is_little_what_a_rank_loses_by_itself_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the rank that stands for all: the first, as no one waits for another."""
    asked = []
    monkeypatch.setattr(diagnose, "brief", lambda run: asked.append(run.name))
    told = found(tmp_path, {0: 5, 1: 5})
    assert told.together == ()
    assert told.rank == 0
    assert asked == ["rank-000"]


@pytest.mark.parametrize(("ran_s", "told"), [(1.0, ()), (0.5, ("cpu-contention",))])
def test_that_a_rank_found_no_core_is_judged_by_all_ranks_that_fill_the_machine(
    ran_s: float, told: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two on two cores: each by itself says "other processes", for it does not know whose they are."""
    finding = Finding("cpu-contention", "...", S, 0.1, None, Basis.ESTIMATED, None, None, (), "...")
    monkeypatch.setattr(diagnose, "brief", lambda _run: Diagnosis((finding,), (), 10 * S))
    samples = {f"rank_{rank}": {"process_samples": cpu(rank, (0, 0), (ran_s, 0.05))} for rank in (0, 1)}

    assert tuple(cause.slug for cause in found(tmp_path, {0: 5, 1: 5}, **samples).alone) == told


def test_of_no_rank_there_is_nothing_to_say(tmp_path: Path) -> None:
    """All are lost."""
    ranked = ranked_runs.make(tmp_path, {})
    assert ranks_causes.of_run(ranked, ranks.of_run(ranked)) is None
