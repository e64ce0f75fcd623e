"""Waits in the steps of the script's own loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    KERNELS,
    SMALL,
    Call,
    Planted,
    Tables,
    compared,
    cpu,
    diagnosed,
    keep_source,
    parts,
    pick,
    sampled,
    slugs,
)
from tests.unit.analysis.findings.test_own_loop_python import LOOP, OWN, looping
from tests.unit.runs import S

_PROCESS: list[Call] = [
    ("check_output", "<python>/subprocess.py", 466),
    ("communicate", "<python>/subprocess.py", 1207),
]


def ran(seconds: float) -> dict[str, int]:
    """Counters of a process whose only working thread had a core for so long."""
    return {**BEGIN, "run_ns": int(seconds * S), "main_run_ns": int(seconds * S)}


def test_a_process_that_each_step_waits_for_is_named_with_its_line(tmp_path: Path) -> None:
    """The thread stands for half of 6 s of steps, below line 40; silence before."""
    tables = looping(*_PROCESS) | cpu((2, BEGIN), (8, ran(3)), tree=50.0)
    finding = pick(diagnosed(tmp_path / "r", OWN, **tables), "script-waits")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert finding.line == 40
    assert "stands still for 50 % of its steps, waiting for a process" in finding.claim
    assert finding.next_step.startswith("Start no process in the loop")


def test_starting_a_process_is_saved_with_the_wait_for_it(tmp_path: Path) -> None:
    """The thread stands for half of 6 s of steps; for 5 of them it is where the process is started, or waited for."""
    started: list[Call] = [*LOOP, ("_execute_child", "<python>/subprocess.py", 1883)]
    stood = sampled((2, 4, started), (4, 7, [*LOOP, *_PROCESS]), (7, 8, LOOP[:1]))
    tables = looping() | stood | cpu((2, BEGIN), (8, ran(3)), tree=50.0)

    assert pick(diagnosed(tmp_path / "r", OWN, **tables), "script-waits").at_stake_ns == pytest.approx(5 * S, rel=0.01)


_POOL: list[Call] = [("map", "<python>/multiprocessing/pool.py", 364), ("wait", "<python>/threading.py", 327)]


def pool(sent_mb: int, read_mb: int) -> Tables:
    """300 steps, for half of which the thread waits for two workers that use a core and read so much in all."""
    counters = {**ran(3), "write_bytes": sent_mb * 1_000_000}
    process = cpu((2, {**BEGIN, "write_bytes": 0}), (8, counters), tree=50.0)
    workers = [{"pid": pid, "role": "worker", "read_bytes": read_mb * 500_000} for pid in (43, 44)]
    child = {**process["process_samples"][0], "pid": 43, "cpu_pct": 100.0}
    children = [{**child, "time_ns": second * S} for second in range(3, 9)]
    samples = [*process["process_samples"], *children]
    return looping(*_POOL) | process | {"process_samples": samples, "processes": workers}


def test_what_is_sent_to_workers_in_each_step_is_told_with_how_to_send_less(tmp_path: Path) -> None:
    """10 GB are written by the program, and read by its workers: 33 MB a step."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **pool(10_000, 10_000)), "script-waits")

    assert "and are sent 33 MB a step" in finding.claim
    assert finding.next_step.startswith("What stays the same goes to each worker once")


def giving_back() -> Tables:
    """10 GB are written by the workers, and read by the program: 33 MB in each of 300 steps."""
    tables = pool(0, 0)
    for sample in tables["process_samples"]:
        sample["read_bytes"] = 10_000_000_000 * (sample["pid"] == 42 and sample["time_ns"] == 8 * S)
    for worker in tables["processes"]:
        worker["write_bytes"] = 5_000_000_000
    return tables


def test_what_workers_send_back_in_each_step_is_told_with_how_to_send_less(tmp_path: Path) -> None:
    """In the place of what to do about a lock."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **giving_back()), "script-waits")

    assert "and send back 33 MB a step" in finding.claim
    assert finding.next_step.startswith("What workers give back is pickled")


@pytest.mark.parametrize(("sent", "read"), [(10_000, 1_000), (900, 900)])
def test_what_no_worker_reads_or_is_little_is_not_told_as_sent(tmp_path: Path, sent: int, read: int) -> None:
    """Files, or 3 MB a step."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **pool(sent, read)), "script-waits")

    assert " sent " not in finding.claim


def test_a_thread_that_hands_its_core_over_in_many_lines_waits_in_none(tmp_path: Path) -> None:
    """It stands for half of the steps, and is seen in five lines of its own for half a second each."""
    lines = [(2 + n / 2, 2.5 + n / 2, [("<module>", "train.py", 50), ("learn", "train.py", 40 + n)]) for n in range(5)]
    engine: list[Call] = [*LOOP, ("backward", "torch/_tensor.py", 9)]
    tables = looping() | sampled(*lines, (4.5, 8, engine)) | cpu((2, BEGIN), (8, ran(3)), tree=50.0)

    assert "script-waits" not in slugs(diagnosed(tmp_path / "r", OWN, **tables))


def test_a_loop_whose_thread_works_does_not_wait(tmp_path: Path) -> None:
    """The same stacks, but the thread had a core all the time."""
    tables = looping(*_PROCESS) | cpu((2, BEGIN), (8, ran(6)))

    assert "script-waits" not in slugs(diagnosed(tmp_path / "r", OWN, **tables))


def test_a_loop_that_waits_for_the_engine_is_not_the_script_s(tmp_path: Path) -> None:
    """The thread stands, but in a function of the engine."""
    tables = looping(("asnumpy", "mxnet/ndarray/ndarray.py", 9)) | cpu((2, BEGIN), (8, ran(3)), tree=50.0)

    assert "script-waits" not in slugs(diagnosed(tmp_path / "r", OWN, **tables))


def burning(main_s: float, *, kernels_ms: float = 4, lane: str = "thread 42 (python)") -> Tables:
    """A line of the script's stands for half of the steps; its thread had a core for so long, another one all the time."""
    window = runs.window([{**KERNELS[0], "ms": kernels_ms, "lane": lane}])
    counters = {**BEGIN, "run_ns": int((6 + main_s) * S), "main_run_ns": int(main_s * S)}
    return {**looping(), **window, **cpu((2, BEGIN), (8, counters), tree=130.0)}


def test_threads_that_burn_a_core_behind_their_operator_are_not_waited_for(tmp_path: Path) -> None:
    """Operators run for 4 of 20 ms on the main thread, which has a core for 30 %: for 70 % it stands, half at line 40."""
    found = diagnosed(tmp_path / "r", OWN, **burning(1.8))

    finding = pick(found, "script-waits")
    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert finding.line == 40
    assert "python-overhead" not in [one.slug for one in found.findings]


def test_operators_on_other_threads_may_be_what_it_waits_for(tmp_path: Path) -> None:
    """They run for 16 of 20 ms elsewhere, and the main thread for 20 %: it never stands without cause."""
    assert "script-waits" not in slugs(diagnosed(tmp_path / "r", OWN, **burning(1.2, kernels_ms=16, lane="engine")))


def test_a_thread_that_has_no_core_runs_no_python(tmp_path: Path) -> None:
    """Half of the samples stand at a line of the script's, and no operator runs, but neither does the thread."""
    found = slugs(diagnosed(tmp_path / "r", OWN, **burning(1.5)))

    assert (found[0], "python-overhead" in found) == ("script-waits", False)


def test_what_a_gpu_computes_is_no_time_of_the_main_thread(tmp_path: Path) -> None:
    """Its kernels run for 10 of 20 ms, and the thread had a core for half of the time: it need not have stood at all."""
    told = burning(3, kernels_ms=10)
    kernels = [
        {**KERNELS[0], "kind": "kernel", "device": 0, "ms": 10},
        {**KERNELS[0], "ms": 5, "lane": "thread 42 (p)"},
    ]

    assert "script-waits" not in slugs(diagnosed(tmp_path / "r", OWN, **{**told, **runs.window(kernels)}))


def test_a_line_that_asks_the_engine_for_batches_waits_for_those(tmp_path: Path) -> None:
    """False before: between two passes its loader was taken down, which leaves no frame; the advice was to look for a lock."""
    asked: list[Call] = [*LOOP, ("__next__", "tensorflow/python/data/ops/iterator_ops.py", 826)]
    tables = looping() | cpu((2, BEGIN), (8, ran(3)), tree=50.0) | sampled((2, 5, LOOP), (5, 8, asked))
    run = runs.trained(tmp_path / "r", OWN, **tables)
    keep_source(run, "\n" * 39 + "for x, y in data:\n")

    assert "script-waits" not in slugs(diagnose.diagnose(run))


def test_a_sum_that_lost_what_an_ended_thread_did_tells_nothing(tmp_path: Path) -> None:
    """False before: as if nobody had worked while a thread of the engine did, and ended."""
    lost = {**BEGIN, "run_ns": -3 * S, "main_run_ns": 3 * S}

    assert "script-waits" not in slugs(
        diagnosed(tmp_path / "r", OWN, **looping() | cpu((2, BEGIN), (8, lost), tree=50.0))
    )


def test_who_stands_while_operators_run_waits_for_these(tmp_path: Path) -> None:
    """They run all the time on a device, and no thread of the process has a core: NumPy was given an array of the engine."""
    numpy: list[Call] = [("mean", "numpy/core/fromnumeric.py", 9)]
    kernels = [{**KERNELS[0], "kind": "kernel", "device": 0, "ms": 19.9}]
    tables = looping(*numpy) | runs.window(kernels) | cpu((2, BEGIN), (8, ran(1)), tree=20.0)

    assert "script-waits" not in slugs(diagnosed(tmp_path / "r", OWN, **tables))


def test_a_line_that_waits_for_the_disk_is_told_what_to_do_about_it(tmp_path: Path) -> None:
    """The text of its line says so: no frame does."""
    run = runs.held(tmp_path / "r", OWN, **{**runs.training(), **looping(), **cpu((2, BEGIN), (8, ran(3)), tree=50.0)})
    keep_source(run, "\n" * 39 + "os.fsync(log.fileno())\n")
    finding = pick(diagnose.diagnose(run), "script-waits")

    assert finding.heading == "The loop waited until files were on the disk"
    assert finding.fix == "file.flush() in place of os.fsync(file.fileno())"


def test_workers_that_it_waits_for_are_told_with_the_line_where_they_stand(tmp_path: Path) -> None:
    """They use a core while the loop's thread stands; nothing large goes between them."""
    tables = pool(0, 0)
    tables["processes"] = [{**row, "start_ns": S, "end_ns": 9 * S} for row in tables["processes"]]
    works = {"stack_id": 70, "depth": 0, "function": "make", "file": "train.py", "line": 50}
    stands = {"pid": 43, "thread_id": 43, "thread": "MainThread", "start_ns": 2 * S, "dur_ns": 5 * S, "stack_id": 70}
    tables |= {"frames": [*tables["frames"], works], "stacks": [*tables["stacks"], stands]}

    finding = pick(diagnosed(tmp_path / "r", OWN, **tables), "script-waits")

    assert finding.line == 50
    assert (
        "waiting for processes that work for it, while processes that it started use 1.0 cores and stand most at train.py:50 "
        "(100 %) of their samples" in finding.claim
    )
    assert finding.next_step.startswith("That line runs in the workers that the loop waits for")


def test_waits_that_only_the_slower_run_has_are_all_of_the_difference(tmp_path: Path) -> None:
    """Its thread stands for half of 12 s of steps, and the other has 6 s without: 6 s, not half of them."""
    waits = looping(*_PROCESS) | cpu((2, BEGIN), (14, ran(6)), tree=50.0)
    spans = runs.intervals(("import", 0, 2), ("fit.steps", 2, 14), ("teardown", 14, 16))
    slow = {**waits, "phases": parts(fit_steps=12, teardown=2), "phase_intervals": spans}
    slow |= {"steps": runs.steps(300, dur_ms=40), **sampled((2, 14, [*LOOP, *_PROCESS]))}
    slow |= runs.window(SMALL, dur_ms=40)
    quick = Planted(looping() | runs.window(SMALL) | cpu((2, BEGIN), (8, ran(6))), OWN)
    told = {**OWN, "process": {**OWN["process"], "wall_ns": 16 * S}}
    finding = pick(diagnose.diagnose_gap(compared(Planted(slow, told), quick, tmp_path)), "script-waits")

    assert "stands still for 50 % of its steps" in finding.claim
    assert finding.at_stake_ns == pytest.approx(6 * S, rel=0.05)
