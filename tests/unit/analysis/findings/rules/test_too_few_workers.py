"""More workers would make the batches that are waited for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, KERNELS, Planted, cpu, diagnosed, pick, sampled, slugs
from tests.unit.analysis.findings.loading import ASKS, FETCH, HALF, IDLE, passes, processes, stood, trained
from tests.unit.runs import S

ALONE: dict[str, Any] = {"workers": 0, "persistent": None, "queue": None, "waited_ns": S}


def planted() -> Planted:
    """Sleeping work without workers."""
    return Planted(trained([20], loaders=passes(**ALONE), **sampled((2, 5, ASKS))))


def test_sleeping_work_without_workers_is_made_beside_the_training(tmp_path: Path) -> None:
    """3 s of waits in a training of 6 s, whose thread sleeps for 3 s: two workers keep up with the steps."""
    finding = pick(planted().diagnosis(tmp_path), "too-few-workers")

    assert (finding.file, finding.line, finding.at_stake_ns) == ("train.py", 5, 2_960_000_000)
    assert "train.py:21" in finding.claim
    assert "sleeps" in finding.claim
    assert finding.remedy is not None
    assert finding.remedy.overrides == {
        "loader": {"file": "train.py", "line": 5, "num_workers": 2, "persistent_workers": True}
    }


def test_gluons_loader_is_told_a_number_of_workers(tmp_path: Path) -> None:
    """They last as long as it does: nothing else is to be set."""
    tables = trained([20], loaders=passes(**ALONE, kind="Gluon DataLoader"), **sampled((2, 5, ASKS)))
    finding = pick(diagnosed(tmp_path / "r", **tables), "too-few-workers")

    assert "gluon.data.DataLoader(..., num_workers=2) at train.py:5" in finding.next_step
    assert "x.as_in_context(mx.cpu()) for a hybridized network" in finding.next_step
    assert finding.remedy is not None
    assert finding.remedy.overrides == {"loader": {"file": "train.py", "line": 5, "num_workers": 2}}


def test_work_that_computes_gets_no_more_workers_than_cores(tmp_path: Path) -> None:
    """The thread always ran: of 3 s of work and 3 s of steps two cores take half the time, less what is not known."""
    ran = {**HALF, "run_ns": 6 * S, "main_run_ns": 6 * S}
    tables = trained([20], loaders=passes(**ALONE), **sampled((2, 5, ASKS)))
    finding = pick(diagnosed(tmp_path / "r", **{**tables, **cpu((2.0, IDLE), (8.0, ran))}), "too-few-workers")

    assert finding.remedy is not None
    assert finding.remedy.overrides["loader"]["num_workers"] == 2
    assert finding.at_stake_ns == 2_368_000_000


def test_less_work_on_batches_would_save_what_workers_save_and_the_rest(tmp_path: Path) -> None:
    """Two workers save 2.4 of 4.2 s of waits: the other finding has all of it, and the sum counts it once."""
    ran = {**HALF, "run_ns": 6 * S, "main_run_ns": 6 * S}
    tables = trained([28], loaders=passes(**{**ALONE, "waited_ns": 7 * S // 5}), **sampled((2, 6.2, ASKS)))
    found = diagnosed(tmp_path / "r", **{**tables, **cpu((2.0, IDLE), (8.0, ran))})
    finding = pick(found, "input-bound")

    assert (finding.at_stake_ns, finding.shared_ns, finding.shared_with) == (
        4_200_000_000, 2_379_200_000, "too-few-workers",
    )  # fmt: skip
    assert "Of this, 2.38 s may be saved in the other way that is told here" in finding.claim
    assert found.explained_ns == 4_200_000_000


def test_two_sleeping_workers_that_are_always_busy_are_too_few(tmp_path: Path) -> None:
    """5.6 s of work of two, beside 2.4 s of steps."""
    workers = {"processes": processes(0.05, 0.05), **stood((0.95, FETCH), (0.95, FETCH))}
    finding = pick(diagnosed(tmp_path / "r", **trained([24], **workers)), "too-few-workers")

    assert finding.remedy is not None
    assert finding.remedy.overrides["loader"]["num_workers"] == 5
    assert "2 workers were busy" in finding.claim


def test_workers_that_fill_the_cores_are_not_too_few(tmp_path: Path) -> None:
    """They compute all the time, on two cores: the work itself is what takes long."""
    workers = {"processes": processes(1.8, 1.8), **stood((0.95, FETCH), (0.95, FETCH))}
    found = diagnosed(tmp_path / "r", **trained([24], **workers))

    assert "too-few-workers" not in slugs(found)
    finding = pick(found, "input-bound")
    assert (finding.file, finding.line) == ("train.py", 21)


def test_rows_that_a_library_collects_are_no_work_for_workers(tmp_path: Path) -> None:
    """No line of the user's stands in it: whole batches are the remedy, not more processes."""
    inside = [*ASKS[:-1], ("TensorDataset.__getitem__", "torch/utils/data/dataset.py", 210)]
    tables = trained([20], loaders=passes(**ALONE), **sampled((2, 5, inside)))

    assert "too-few-workers" not in slugs(diagnosed(tmp_path / "r", **tables))


def test_a_training_that_does_not_wait_has_enough(tmp_path: Path) -> None:
    """However long a batch takes."""
    workers = {"processes": processes(0.05, 0.05), **stood((0.95, FETCH), (0.95, FETCH))}

    assert slugs(diagnosed(tmp_path / "r", **trained([0], **workers))) == []


def test_workers_that_were_not_sampled_say_nothing(tmp_path: Path) -> None:
    """The rule abstains, and says why."""
    found = diagnosed(tmp_path / "r", **trained([24], processes=processes(0.05, 0.05), **sampled((2, 5, FIT))))

    because = {one.slug: one.because for one in found.abstained}
    assert because["too-few-workers"] == (
        "the workers of the loader were hardly sampled: how busy they were is not known"
    )
    assert "input-bound" in slugs(found)  # that the training waits is known all the same


def test_workers_that_compute_are_not_advised_where_others_use_the_cores(tmp_path: Path) -> None:
    """1.8 of two cores are other programs'; false before: with the same waits, `input-bound` had nothing left."""
    ran = {**HALF, "run_ns": 6 * S, "main_run_ns": 6 * S}
    tables = trained([20], loaders=passes(**ALONE), **sampled((2, 5, ASKS)))
    busy = cpu((2.0, IDLE), (8.0, ran), others=180.0)
    diagnosis = diagnosed(tmp_path / "r", **{**tables, **busy})

    assert "too-few-workers" not in slugs(diagnosis)
    assert pick(diagnosis, "input-bound").at_stake_ns > 2 * S


def test_a_thread_that_stands_as_the_engine_computes_does_not_sleep_over_its_batches(tmp_path: Path) -> None:
    """It stands for 3 of 6 s, as engines do that compute on threads of their own: what the batches are, nobody knows."""
    tables = trained([20], loaders=passes(**ALONE), **sampled((2, 5, ASKS)))
    on_others = {**runs.window(KERNELS), **tables, **cpu((2.0, IDLE), (8.0, HALF))}
    finding = pick(diagnosed(tmp_path / "r", **on_others), "too-few-workers")

    assert "(making items 100 %); 2 workers on 2 cores" in finding.claim
    assert "sleeps" not in finding.claim
