"""A script that stands still in its own code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    Planted,
    Tables,
    cpu,
    diagnosed,
    keep_source,
    parts,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import S

_STOOD = sampled((1, 4, [("<module>", "train.py", 5), ("prepare", "train.py", 3)]))


def before_fit(*, run_s: float, wait_s: float = 0.0, **more: Any) -> Tables:
    """3 s of the script's own before 4 s of fit, in which its thread runs and waits for a core for so long."""
    run_ns, wait_ns = int(run_s * S), int(wait_s * S)
    ran = {"run_ns": run_ns, "wait_ns": wait_ns, "main_run_ns": run_ns, "main_wait_ns": wait_ns}
    samples = cpu((1, BEGIN), (2, BEGIN), (4, {**BEGIN, **ran}), (8, {**BEGIN, **ran}), tree=0.0)
    return quiet(
        phases=parts(import_=1, script=3, fit_steps=4, teardown=2),
        steps=runs.steps(200, start_s=4),
        phase_intervals=runs.intervals(("import", 0, 1), ("script", 1, 4), ("fit.steps", 4, 8), ("teardown", 8, 10)),
        **_STOOD,
        **{**samples, **more},
    )


def planted() -> Planted:
    """A pause of 3 s before fit."""
    return Planted(before_fit(run_s=0))


def test_a_script_that_sleeps_stands_waiting(tmp_path: Path) -> None:
    """At the line where it stands; and its Python did not take that time."""
    diagnosis = planted().diagnosis(tmp_path)

    assert slugs(diagnosis) == ["script-waits"]
    assert (pick(diagnosis, "script-waits").at_stake_ns, pick(diagnosis, "script-waits").line) == (3 * S, 3)


_IN_POOL = sampled(
    (1, 4, [("<module>", "train.py", 5), ("prepare", "train.py", 3), ("ApplyResult.get", "<python>/multiprocessing/pool.py", 768),
            ("Condition.wait", "<python>/threading.py", 327)])
)  # fmt: skip


def sending(
    folder: Path, *, sent: int, read: int, stacks: Tables = _IN_POOL, source: str = "", since_s: int = 4
) -> Diagnosis:
    """A script that waits for 3 s, of which a thread of its own works 2; main and children moved so many bytes."""
    tables = before_fit(run_s=0) | stacks
    rows = tables["process_samples"]
    for row in rows:
        row["write_bytes"] = sent if row["time_ns"] >= since_s * S else 0
    worker = {"pid": 43, "role": "worker", "parent_pid": 42, "start_ns": S, "end_ns": 4 * S, "read_bytes": read}
    run = runs.trained(folder, **tables | {"processes": [worker]})
    keep_source(run, source)
    return diagnose(run)


_TASKS = "def prepare(pool):\n    jobs = [pool.apply_async(f, [x, i]) for i in range(9)]\n    return [j.get() for j in jobs]\n"


def test_much_that_goes_to_processes_with_their_tasks_is_told_at_the_line_that_gives_them(tmp_path: Path) -> None:
    """2 GB at a nanosecond a byte."""
    finding = pick(sending(tmp_path / "r", sent=2 * 10**9, read=2 * 10**9, source=_TASKS), "script-waits")

    assert (finding.heading, finding.line) == ("Much was sent to processes with their tasks", 2)
    assert finding.at_stake_ns == pytest.approx(2 * S, rel=0.01)
    assert "sends them 2.00 GB meanwhile" in finding.claim


def test_what_is_sent_in_the_training_is_not_sent_outside_of_it(tmp_path: Path) -> None:
    """All of it is written in the last of its four seconds: before, it only waits for its pool."""
    finding = pick(sending(tmp_path / "r", sent=2 * 10**9, read=2 * 10**9, since_s=8), "script-waits")

    assert finding.heading == "The script waits for processes that it started"


def test_no_more_is_lost_by_sending_than_was_waited(tmp_path: Path) -> None:
    """9 GB in 3 s."""
    finding = pick(sending(tmp_path / "r", sent=9 * 10**9, read=9 * 10**9), "script-waits")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert finding.line == 3


@pytest.mark.parametrize(
    ("changes", "heading"),
    [
        ({"sent": 10**8, "read": 10**8}, "The script waits for processes that it started"),
        ({"sent": 2 * 10**9, "read": 10**8}, "The script waits for processes that it started"),
        ({"sent": 2 * 10**9, "read": 2 * 10**9, "stacks": _STOOD}, "The script stood waiting"),
    ],
    ids=["little", "to a file", "no pool"],
)
def test_what_is_written_to_files_or_not_waited_for_was_not_sent(changes: Any, heading: str, tmp_path: Path) -> None:
    """It waits, for processes of its own or for something else."""
    assert pick(sending(tmp_path / "r", **changes), "script-waits").heading == heading


def test_of_code_that_works_and_waits_each_part_is_told(tmp_path: Path) -> None:
    """It runs for 1.5 of 3 s: for the other half it stands."""
    diagnosis = diagnosed(tmp_path / "r", **before_fit(run_s=1.5))

    assert pick(diagnosis, "script-waits").at_stake_ns == pytest.approx(1.5 * S, rel=0.01)
    assert pick(diagnosis, "python-overhead").at_stake_ns == pytest.approx(1.5 * S, rel=0.01)


def test_a_thread_that_waits_for_a_core_does_not_stand(tmp_path: Path) -> None:
    """It would run if it could."""
    diagnosis = diagnosed(tmp_path / "r", **before_fit(run_s=1.5, wait_s=1.5))

    assert "script-waits" not in slugs(diagnosis)


def test_processes_that_it_waits_for_are_named(tmp_path: Path) -> None:
    """One of its own uses a core meanwhile."""
    tables = before_fit(run_s=0)
    child = {**tables["process_samples"][0], "pid": 43, "cpu_pct": 100.0}
    tables["process_samples"] = [*tables["process_samples"], *({**child, "time_ns": at * S} for at in (2, 3, 4))]

    text = pick(diagnosed(tmp_path / "r", **tables), "script-waits").claim

    assert "while processes that it started use 1.0 cores" in text


def only_waiting(file: str) -> Tables:
    """No step of its own; what it waits for below a file of Python's library uses a core."""
    tables = before_fit(run_s=0)
    child = {**tables["process_samples"][0], "pid": 43, "cpu_pct": 100.0}
    tables["process_samples"] = [*tables["process_samples"], *({**child, "time_ns": at * S} for at in (2, 3, 4))]
    stacks = sampled((1, 4, [("<module>", "train.py", 5), ("prepare", "train.py", 3), ("wait", file, 9)]))
    return {**tables, "steps": [], **stacks}


@pytest.mark.parametrize(
    ("file", "way"),
    [
        (
            "<python>/multiprocessing/connection.py",
            "jax.distributed.initialize, MultiWorkerMirroredStrategy), look into them: dlprof trace",
        ),
        ("<python>/subprocess.py", "dlprof trace --follow"),
    ],
)
def test_a_script_whose_processes_may_train_is_told_how_to_see_into_them(tmp_path: Path, file: str, way: str) -> None:
    """By how it started them: it has no training of its own that they could work beside."""
    finding = pick(diagnosed(tmp_path / "r", **only_waiting(file)), "script-waits")

    assert way in finding.next_step


@pytest.mark.parametrize(
    "makes",
    [
        "dist.init_process_group('gloo', rank=rank, world_size=2)",
        "jax.distributed.initialize(address, 2, rank)",
        "strategy = tf.distribute.MultiWorkerMirroredStrategy()",
    ],
)
def test_ranks_that_a_script_waits_for_are_no_time_of_its_own(tmp_path: Path, makes: str) -> None:
    """Its source joins processes to one training: what they do is not known, so nothing is lost as far as is known."""
    row = {"file": "train.py", "function": "train", "first_line": 9, "line": 9, "hits": 3, "time_ns": 1}
    tables = {**only_waiting("<python>/multiprocessing/connection.py"), "lines": [row]}
    run = runs.trained(tmp_path / "r", **tables)
    keep_source(run, f"def train(rank):\n    {makes}\n")

    finding = pick(diagnose(run), "script-waits")

    assert (finding.heading, finding.at_stake_ns) == ("The script waits for its ranks", 0)
    assert "dlprof trace --follow" in finding.next_step


def test_nothing_is_said_where_the_thread_was_measured_too_seldom(tmp_path: Path) -> None:
    """One sample before fit, and one after: what ran between them may have been in either."""
    tables = before_fit(run_s=2)
    tables["process_samples"] = tables["process_samples"][::3]

    assert "script-waits" not in slugs(diagnosed(tmp_path / "r", **tables))


def test_a_script_whose_engine_works_on_other_threads_does_not_stand_waiting(tmp_path: Path) -> None:
    """False before: a compiled function of TensorFlow runs on threads of its own, while the main thread is asleep."""
    working = {**BEGIN, "run_ns": 3 * S}
    tables = before_fit(run_s=0, **cpu((1, BEGIN), (4, working), (8, working), tree=0.0))

    assert slugs(diagnosed(tmp_path / "r", **tables)) == []


def followed(*wall_s: float, pythons: int = 2) -> dict[str, Any]:
    """The manifest of a run below which Pythons were followed, of numbers from 43 on."""
    told = [
        {"run": f"children/00{number}-train", "pid": 42 + number, "parent": 42, "command": "python train.py",
         "ended": "exited", "exit_code": 0, "wall_ns": int(wall * S)}
        for number, wall in enumerate(wall_s, 1)
    ]  # fmt: skip
    return runs.manifest(followed={"runs": told, "pythons": pythons, "not_followed": 0})


def below(*times: tuple[float, float]) -> list[dict[str, Any]]:
    """Processes from 43 on, with when each ran."""
    return [
        {"pid": 42 + number, "role": "child", "start_ns": int(begin * S), "end_ns": int(end * S)}
        for number, (begin, end) in enumerate(times, 1)
    ]


def test_a_wait_for_followed_pythons_leads_to_them(tmp_path: Path) -> None:
    """It is no fault of the script's own; they need not be busy all the time."""
    tables = {**before_fit(run_s=0), "steps": [], "processes": below((1, 2), (2, 3.9))}
    finding = pick(diagnosed(tmp_path / "r", followed(1, 1.9), **tables), "script-waits")

    assert finding.heading == "The script waits for Pythons that have runs of their own"
    assert finding.claim == (
        "The script only waits, while 2 Pythons that it started run; the longest is children/002-train, 1.90 s: "
        "3.00 s, 30 % of the wall time."
    )
    assert finding.next_step.startswith("What takes the time there its own run tells: dlprof diagnose RUN/children/002")


def test_a_wait_without_them_is_the_scripts_own(tmp_path: Path) -> None:
    """They ran for 1 of 3 s."""
    tables = {**before_fit(run_s=0), "steps": [], "processes": below((1, 2))}
    finding = pick(diagnosed(tmp_path / "r", followed(1), **tables), "script-waits")

    assert finding.claim.startswith("The script stands still for ")


def test_where_workers_are_no_ranks_following_is_not_advised_again(tmp_path: Path) -> None:
    """It was asked for."""
    finding = pick(
        diagnosed(tmp_path / "r", followed(), **only_waiting("<python>/multiprocessing/connection.py")), "script-waits"
    )

    assert "--follow" not in finding.next_step
    assert (
        "no ranks of one training (init_process_group, jax.distributed.initialize, MultiWorkerMirroredStrategy) are not "
        "looked into" in finding.next_step
    )


def test_of_a_followed_python_nothing_is_said_of_its_processes(tmp_path: Path) -> None:
    """They are looked at beside the program that was followed: here none is seen, whatever they do."""
    told = runs.manifest(backend={"name": None, "source": "followed"})
    finding = pick(diagnosed(tmp_path / "r", told, **before_fit(run_s=0)), "script-waits")

    assert finding.claim == "The script stands still for 100 % of its own code: 3.00 s, 30 % of the wall time."
    assert "Pythons among that may have runs beside this" in finding.next_step


_JOINS = [
    ("<module>", "train.py", 5),
    ("prepare", "train.py", 3),
    ("Popen.poll", "<python>/multiprocessing/popen_fork.py", 27),
]
_TRIAL = [
    {"stack_id": 7, "depth": 0, "function": "BaseProcess._bootstrap", "file": "<python>/multiprocessing/process.py", "line": 314},
    {"stack_id": 7, "depth": 1, "function": "trial", "file": "train.py", "line": 12},
]  # fmt: skip


def joining(folder: Path, *, cpu_s: float = 1.0, until_s: float = 4, sampled_s: float = 2, **more: Any) -> Diagnosis:
    """A script that joins a process for 3 s, which is sampled at a line of the script's own."""
    tables = {**before_fit(run_s=0), **sampled((1, 4, _JOINS)), **more}
    child = {
        "pid": 43,
        "role": "worker",
        "parent_pid": 42,
        "start_ns": S,
        "end_ns": int(until_s * S),
        "cpu_ns": int(cpu_s * S),
    }
    stands = {
        "pid": 43,
        "thread_id": 43,
        "thread": "MainThread",
        "start_ns": S,
        "dur_ns": int(sampled_s * S),
        "stack_id": 7,
    }
    tables["stacks"] = [*tables["stacks"], *([stands] if sampled_s else [])]
    return diagnosed(folder, **{**tables, "frames": [*tables["frames"], *_TRIAL], "processes": [child], "steps": []})


def test_a_wait_for_processes_of_its_own_leads_to_the_line_where_these_stand(tmp_path: Path) -> None:
    """However little they use: it does not stand without work in any of its processes."""
    finding = pick(joining(tmp_path / "r"), "script-waits")

    assert (finding.heading, finding.line) == ("The script waits for processes that it started", 12)
    assert finding.claim == (
        "For 100 % of its own code the script waits at train.py:3 for a process that it started; it used 1.00 s of CPU time meanwhile "
        "and stood most at train.py:12 (100 %) of its samples: the wait takes 3.00 s, 30 % of the wall time."
    )
    assert finding.next_step.startswith("That line runs in the processes that the script waits for")


def test_where_its_processes_were_not_sampled_the_wait_is_told_at_its_own_line(tmp_path: Path) -> None:
    """What they used is known all the same."""
    finding = pick(joining(tmp_path / "r", sampled_s=0), "script-waits")

    assert finding.line == 3
    assert "for a process that it started; it used 1.00 s of CPU time meanwhile: the wait takes" in finding.claim


def test_a_wait_in_which_no_process_ran_is_not_for_one(tmp_path: Path) -> None:
    """It was over after a third of the wait."""
    finding = pick(joining(tmp_path / "r", until_s=2), "script-waits")

    assert finding.heading == "The script stood waiting"


def test_what_stands_beside_the_wait_for_processes_is_told_apart(tmp_path: Path) -> None:
    """A pause of the last second at line 4."""
    diagnosis = joining(tmp_path / "r", **sampled((1, 3, _JOINS), (3, 4, [("<module>", "train.py", 4)])))

    told = [(one.line, one.at_stake_ns) for one in diagnosis.findings if one.slug == "script-waits"]
    assert told == [(12, 2 * S), (4, pytest.approx(S, rel=0.01))]


def test_little_work_of_its_processes_is_not_none(tmp_path: Path) -> None:
    """A third of a core, while it stands for something else."""
    child = {"pid": 43, "role": "worker", "parent_pid": 42, "start_ns": S, "end_ns": 4 * S, "cpu_ns": S}
    finding = pick(diagnosed(tmp_path / "r", **{**before_fit(run_s=0), "processes": [child]}), "script-waits")

    assert ", while processes that it started use 0.33 cores:" in finding.claim


@pytest.mark.parametrize(("ran_s", "told"), [(0.5, True), (2.0, False)])
def test_a_short_pause_is_told_where_it_stood_in_any_case(tmp_path: Path, ran_s: float, told: bool) -> None:
    """The counters are from 0.5 s and from 5.5 s: of 5 s between them 3 are the pause."""
    ran_ns = int(ran_s * S)
    late = {**BEGIN, "run_ns": ran_ns, "main_run_ns": ran_ns}
    diagnosis = diagnosed(tmp_path / "r", **before_fit(run_s=0, **cpu((0.5, BEGIN), (5.5, late), (9, late), tree=0.0)))

    found = [one.at_stake_ns for one in diagnosis.findings if one.slug == "script-waits"]
    assert found == ([pytest.approx(2.5 * S, rel=0.01)] if told else [])


_JOINS_THREAD = [("<module>", "train.py", 5), ("Thread.join", "<python>/threading.py", 1119)]


def on_a_thread(folder: Path, **changes: Any) -> Diagnosis:
    """A script that joins a thread for 3 s, which trains for 2 of them."""
    fit = runs.span("fit", 2, 4, thread="Thread-1 (work)", thread_id=7, span_id=9)
    steps = runs.steps(100, start_s=2, thread_id=7)
    stacks = sampled((1, 4, _JOINS_THREAD), (2, 4, [("work", "train.py", 16)]))
    stacks["stacks"][1].update(thread="Thread-1 (work)", thread_id=7)
    phases = runs.intervals(("import", 0, 1), ("script", 1, 4), ("teardown", 4, 10))
    tables = {**before_fit(run_s=0), **stacks, "spans": [fit], "steps": steps, "phase_intervals": phases}
    tables["phases"] = parts(import_=1, script=3, teardown=6)
    return diagnosed(folder, **{**tables, **changes})


def test_a_wait_for_the_thread_that_trains_is_no_lost_time(tmp_path: Path) -> None:
    """It is told where that one stands; what rules look at is the main thread."""
    diagnosis = on_a_thread(tmp_path / "r")
    finding = pick(diagnosis, "script-waits")

    assert [one.slug for one in diagnosis.findings if one.slug == "script-waits"] == ["script-waits"]
    assert (finding.heading, finding.line, finding.at_stake_ns) == (
        "The training ran on a thread that no phases are of", 16, 0,
    )  # fmt: skip
    assert finding.claim == (
        "The script only waits for the thread Thread-1 (work), where 100 steps ran: phases are of another thread, and "
        "do not tell them. That stood most at train.py:16 (100 %) of its samples."
    )
    reasons = {one.slug: one.because for one in diagnosis.abstained}
    assert reasons["dispatch-bound"] == "the steps ran on another thread than the one that phases are of"


def test_a_wait_for_a_thread_that_trains_for_little_of_it_is_not_for_that(tmp_path: Path) -> None:
    """One second of three."""
    fit = runs.span("fit", 2, 3, thread="Thread-1 (work)", thread_id=7, span_id=9)

    assert pick(on_a_thread(tmp_path / "r", spans=[fit]), "script-waits").heading == "The script stood waiting"


def test_where_other_threads_of_its_own_stand_meanwhile_is_said(tmp_path: Path) -> None:
    """One stands for two of three seconds at line 17, and waits for the third."""
    stacks = sampled(
        (1, 4, [("<module>", "train.py", 3), ("readinto", "<python>/socket.py", 706)]),
        (1, 3, [("handle", "train.py", 17)]),
        (3, 4, [("handle", "train.py", 18), ("wait", "<python>/threading.py", 327)]),
    )
    for row in stacks["stacks"][1:]:
        row.update(thread="Thread-2", thread_id=7)

    finding = pick(diagnosed(tmp_path / "r", **{**before_fit(run_s=0), **stacks}), "script-waits")

    assert finding.line == 3
    assert ", while other threads of its own stand at train.py:17 for 2.00 s:" in finding.claim


def test_what_its_processes_did_before_the_wait_is_not_told_of_it(tmp_path: Path) -> None:
    """One lived for 4 s, 3 of them in the wait, and used a core in each; it was sampled before the wait only."""
    child = {"pid": 43, "role": "worker", "parent_pid": 42, "start_ns": 0, "end_ns": 4 * S, "cpu_ns": 4 * S}
    tables = {**before_fit(run_s=0), **sampled((1, 4, _JOINS)), "processes": [child], "steps": []}
    early = {"pid": 43, "thread_id": 43, "thread": "MainThread", "start_ns": 0, "dur_ns": S, "stack_id": 7}
    tables |= {"stacks": [*tables["stacks"], early], "frames": [*tables["frames"], *_TRIAL]}

    finding = pick(diagnosed(tmp_path / "r", **tables), "script-waits")

    assert "it used 3.00 s of CPU time meanwhile: the wait" in finding.claim
    assert finding.line == 3
