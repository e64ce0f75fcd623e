"""Threads that take turns at Python's interpreter while one of them trains."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    KERNELS,
    Call,
    Planted,
    Tables,
    cpu,
    diagnosed,
    keep_source,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import S

OWN = runs.manifest(keras=None)
STEP: list[Call] = [("<module>", "train.py", 5), ("learn", "train.py", 4), ("linear", "torch/nn/functional.py", 7)]
WAITS: list[Call] = [*STEP[:2], ("get", "<python>/queue.py", 171)]
PAUSES: list[Call] = [("<module>", "train.py", 5), ("learn", "train.py", 2)]
LOCKED: list[Call] = [("<module>", "train.py", 5), ("learn", "train.py", 3)]
ACTS: list[Call] = [("run", "<python>/threading.py", 9), ("actor", "train.py", 12)]
RESTS: list[Call] = [*ACTS, ("get", "<python>/queue.py", 171)]
SOURCE = "def learn():\n    time.sleep(0.1)\n    with self.lock:\n        return model(x)\n"


def shared(
    other: list[Call] = ACTS,
    stood: list[Call] = STEP,
    *,
    main_s: float = 1.5,
    whole_s: float = 6,
    kernels_ms: float | None = 0.1,
) -> Tables:
    """6 s of steps, in which the thread that trains stands so, and another one so.

    Args:
        other: Where the other one stands.
        stood: Where the one that trains does.
        main_s: For how long that has a core (s).
        whole_s: For how long both have one (s).
        kernels_ms: How long operators run in a step of 20 ms; None: they were not traced.
    """
    tables, others = sampled((2, 8, stood)), sampled((2, 8, other), thread="actor")
    for row in (*others["stacks"], *others["frames"]):
        row["stack_id"] += 10
    both = {name: [*tables[name], *others[name]] for name in ("stacks", "frames")}
    used = {"run_ns": int(whole_s * S), "wait_ns": 0, "main_run_ns": int(main_s * S), "main_wait_ns": 0}
    window = runs.window([{**KERNELS[0], "ms": kernels_ms or 0}])
    traced = window if kernels_ms is not None else {name: [] for name in window}
    return {**runs.training(), **quiet(spans=[runs.fit_span()], **both, **cpu((2, BEGIN), (8, used))), **traced}


def planted() -> Planted:
    """A thread of Python beside a training that has a core for a quarter of its steps."""
    return Planted(shared(), OWN)


def test_a_training_that_waits_for_another_threads_python_is_told_at_the_line_of_that(tmp_path: Path) -> None:
    """It runs for 1.5 of 6 s, and nothing but the interpreter keeps it from going on."""
    finding = pick(planted().diagnosis(tmp_path / "r"), "gil-contention")

    assert finding.at_stake_ns == pytest.approx(4.5 * S, rel=0.02)
    assert (finding.file, finding.line) == ("train.py", 12)
    assert "could not go on for 75 % of its steps" in finding.claim
    assert "ran Python (100 % of the samples)" in finding.claim


def test_that_is_no_second_cause_of_standing_still(tmp_path: Path) -> None:
    """Nor Python of the loop's own; what is left of the steps is for starting operators."""
    assert slugs(planted().diagnosis(tmp_path / "r")) == ["gil-contention", "dispatch-bound"]


@pytest.mark.parametrize(
    "tables",
    [
        shared(RESTS),
        shared(main_s=5.8, whole_s=11.6),
        shared(whole_s=1.5),
        shared(stood=WAITS),
        shared(stood=PAUSES),
        shared(stood=LOCKED),
        shared([("actor", "train.py", 12), ("forward", "torch/nn/modules/linear.py", 134)]),
        shared(kernels_ms=19.9, whole_s=12),
    ],
    ids=[
        "the other one waits",
        "it always had a core",
        "the other one had none",
        "it waits for batches",
        "it sleeps",
        "it waits for a lock",
        "the other one computes outside of Python",
        "it waits for operators",
    ],
)
def test_who_waits_for_something_else_does_not_wait_for_the_interpreter(tables: Tables, tmp_path: Path) -> None:
    """Nothing is said of it."""
    run = runs.held(tmp_path / "r", OWN, **tables)
    keep_source(run, SOURCE)

    assert "gil-contention" not in slugs(diagnose(run))


def test_no_more_is_claimed_than_others_had_the_interpreter(tmp_path: Path) -> None:
    """The training stands for 4.5 s, the other thread has a core for 2 of these."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **shared(whole_s=3.5)), "gil-contention")

    assert finding.at_stake_ns == pytest.approx(2 * S, rel=0.02)


def test_without_kernels_it_is_less_sure(tmp_path: Path) -> None:
    """It may wait for operators, too."""
    traced = pick(diagnosed(tmp_path / "a", OWN, **shared()), "gil-contention")
    untraced = pick(diagnosed(tmp_path / "b", OWN, **shared(kernels_ms=None)), "gil-contention")

    assert traced.confidence > untraced.confidence


TURN = {"thread": "Trainer", "thread_id": 7, "system_id": 43, "start_ns": 2 * S, "end_ns": 8 * S}
LOOKS: list[Call] = [("<module>", "train.py", 9), ("follow", "train.py", 7), ("get", "<python>/queue.py", 168)]
LOOKS_ITSELF: list[Call] = [("<module>", "train.py", 9), ("follow", "train.py", 7)]
BLOCKS: list[Call] = [*LOOKS, ("wait", "<python>/threading.py", 327)]
SLEEPS: list[Call] = [("<module>", "train.py", 9), ("follow", "train.py", 2)]
COMPUTES: list[Call] = [*LOOKS_ITSELF, ("linear", "torch/nn/functional.py", 7)]
FOLLOWS = SOURCE + "\n\n    messages.get_nowait()\n"


def handed_over(main: list[Call], *, run_s: float = 1.5, wait_s: float = 0.0, whole_s: float = 6) -> Tables:
    """6 s of steps on a thread of its own, beside which the main thread stands so.

    Args:
        main: Where the main thread stands.
        run_s: For how long the one that trains has a core (s).
        wait_s: For how long it wants one in vain (s).
        whole_s: For how long both have one (s).
    """
    tables = shared(other=main, main_s=run_s, whole_s=whole_s)
    threads = {"MainThread": "Trainer", "actor": "MainThread"}
    for row in tables["stacks"]:
        row["thread"] = threads[row["thread"]]
    for row in tables["process_samples"][1:]:
        row["main_wait_ns"] = row["wait_ns"] = int(wait_s * S)
    return tables


def told_beside(folder: Path, tables: Tables) -> dict[str, Finding]:
    """The findings of a training that has a thread of its own."""
    run = runs.held(folder, runs.manifest(keras=None, phase_threads=[TURN]), **tables)
    keep_source(run, FOLLOWS)
    return {one.slug: one for one in diagnose(run).findings}


@pytest.mark.parametrize("main", [LOOKS, LOOKS_ITSELF], ids=["in a library", "in its own line"])
def test_a_main_thread_that_looks_again_and_again_takes_the_interpreter(main: list[Call], tmp_path: Path) -> None:
    """It is at its own line, with what lets others run."""
    finding = told_beside(tmp_path / "r", handed_over(main))["gil-contention"]

    assert finding.at_stake_ns == pytest.approx(4.5 * S, rel=0.02)
    assert (finding.file, finding.line) == ("train.py", 7)
    assert "it had no core and wanted none, while the main thread ran Python (100 % of the samples)" in finding.claim
    assert finding.next_step.startswith("Let the thread that looks whether the training is over wait for that")


@pytest.mark.parametrize("main", [BLOCKS, SLEEPS, COMPUTES], ids=["in a library", "sleeping", "in the engine"])
def test_a_main_thread_that_waits_takes_nothing(main: list[Call], tmp_path: Path) -> None:
    """Or that runs no Python."""
    assert "gil-contention" not in told_beside(tmp_path / "r", handed_over(main))


def test_the_core_that_a_looking_main_thread_takes_is_told_too(tmp_path: Path) -> None:
    """Of 6 s the training wants a core in vain for 3, which the main thread alone takes."""
    finding = told_beside(tmp_path / "r", handed_over(LOOKS, run_s=3, wait_s=3, whole_s=9))["gil-contention"]

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.02)
    assert "50 % of its steps: it wanted a core and had none, while the main thread ran Python" in finding.claim
