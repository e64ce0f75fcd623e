"""Waits for batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    FIT,
    KERNELS,
    Call,
    Planted,
    Tables,
    cpu,
    diagnosed,
    keep_source,
    on,
    parts,
    pick,
    quiet,
    sampled,
    waiting_for_input,
)
from tests.unit.analysis.findings.loading import FETCH, passes, processes, stood, trained
from tests.unit.runs import MS, S

MADE = sampled((6, 8, [*FIT, ("__next__", "keras/src/iterator.py", 3), ("batches", "train.py", 21)]))
"""The script's generator works between the steps."""


def planted() -> Planted:
    """The user's generator makes batches for the 2 s between the steps."""
    return Planted(waiting_for_input(**MADE))


def own_loop(**changes: Any) -> Tables:
    """A loop of the script over train_on_batch: 100 steps of 20 ms, and 20 ms between them."""
    steps = runs.steps(100, dur_ms=40, start_s=2)
    for row in steps:
        row["dur_ns"] = 20 * MS
    return {
        "phases": parts(fit_steps=2, script=4, teardown=2),
        "steps": steps,
        "phase_intervals": runs.intervals(("import", 0, 2), ("script", 2, 8), ("teardown", 8, 10)),
        "spans": [runs.span("on_batch", 2, 2, name="train_on_batch", span_id=1)],
        **changes,
    }


def test_waiting_for_batches_is_input(tmp_path: Path) -> None:
    """2 s of 6 between the steps."""
    finding = pick(planted().diagnosis(tmp_path), "input-bound")

    assert (finding.at_stake_ns, finding.file, finding.line) == (2 * S, "train.py", 21)


def test_what_keras_does_with_every_batch_is_not_at_stake(tmp_path: Path) -> None:
    """The script's generator works for 1.5 of the 2 s between the steps."""
    keras = [*FIT, ("__next__", "keras/src/iterator.py", 3)]
    stood = sampled((6, 7.5, [*keras, ("batches", "train.py", 21)]), (7.5, 8, keras))
    finding = pick(diagnosed(tmp_path / "r", **waiting_for_input(**stood)), "input-bound")

    assert finding.at_stake_ns == pytest.approx(1_500 * MS, rel=0.01)


def test_what_a_loader_does_with_the_rows_of_a_loop_of_the_scripts_own_is_at_stake(tmp_path: Path) -> None:
    """The data set works for 1.5 of the 2 s between the steps, and the loader makes batches of its rows in the rest."""
    asks: list[Call] = [FIT[0], ("__next__", "torch/utils/data/dataloader.py", 3)]
    stood = sampled((6, 7.5, [*asks, ("Images.__getitem__", "train.py", 21)]), (7.5, 8, asks))
    loop = {**runs.fit_span(), "detail": json.dumps({"how": "inferred"})}
    finding = pick(diagnosed(tmp_path / "r", **waiting_for_input(spans=[loop], **stood)), "input-bound")

    assert finding.at_stake_ns == pytest.approx(2_000 * MS, rel=0.01)


def test_time_between_own_calls_of_a_step_is_input(tmp_path: Path) -> None:
    """99 times 20 ms."""
    assert pick(diagnosed(tmp_path / "r", **own_loop()), "input-bound").at_stake_ns == 1_980 * MS


def test_what_a_model_predicts_between_own_calls_is_no_input(tmp_path: Path) -> None:
    """An agent that asks its model what to do, for 15 of the 20 ms between two steps."""
    tables = own_loop()
    predicted = [
        {**row, "loop": "predict", "loop_id": 2, "start_ns": row["start_ns"] + 22 * MS, "dur_ns": 15 * MS}
        for row in tables["steps"][:-1]
    ]
    tables["steps"] = [*tables["steps"], *predicted]

    assert pick(diagnosed(tmp_path / "r", **tables), "input-bound").at_stake_ns == 495 * MS


def test_kernels_beside_a_loop_of_the_scripts_own_are_no_input(tmp_path: Path) -> None:
    """On MXNet half of the 1.98 s between the steps is kernels; 2 s more of the script are no input either way."""
    tables = own_loop(**runs.window([{**KERNELS[0], "ms": 30}], dur_ms=40.0))
    diagnosis = diagnosed(tmp_path / "r", on("mxnet"), **tables)

    assert pick(diagnosis, "input-bound").at_stake_ns == 990 * MS


@pytest.mark.parametrize(("works_until", "at_stake"), [(6, 2_300 * MS), (8, 4_300 * MS)])
def test_waits_in_which_the_generator_rests_are_not_for_batches(
    tmp_path: Path, works_until: int, at_stake: int
) -> None:
    """TensorFlow's step of 20 ms waits 12 ms for it; in the 2 s between steps it works or rests; 0.1 s are usual."""
    made = [("generator_py_func", "tensorflow/python/data/ops/from_generator_op.py", 9), ("batches", "train.py", 21)]
    stood = sampled((2, works_until, made), thread="thread 9")
    tables = waiting_for_input(**stood, **runs.window([{**KERNELS[0], "ms": 8}]))

    finding = pick(diagnosed(tmp_path / "r", on("tensorflow", input_inside_step=True), **tables), "input-bound")

    assert finding.at_stake_ns == pytest.approx(at_stake, rel=0.01)


def test_a_thread_that_makes_batches_holds_up_what_python_starts(tmp_path: Path) -> None:
    """On MXNet it runs for 3 of the 4 s of the steps; operators, which need no Python, have two fifths of these."""
    made = [("next_sample", "keras/utils/data_utils.py", 636), ("batches", "train.py", 21)]
    tables = waiting_for_input(**sampled((2, 5, made), thread="thread 9"), **runs.window([{**KERNELS[0], "ms": 8}]))

    finding = pick(diagnosed(tmp_path / "r", on("mxnet"), **tables), "input-bound")

    assert finding.at_stake_ns == pytest.approx(2 * S + 4 * S * 0.75 * 0.6, rel=0.01)


@pytest.mark.parametrize(("busy", "at_stake"), [(0.6, 1_080 * MS), (0.25, 450 * MS)])
def test_workers_that_rest_are_not_what_is_waited_for(tmp_path: Path, busy: float, at_stake: int) -> None:
    """As a loop of short epochs was recorded: each of 150 steps waits 12 ms, and the workers mostly have no work."""
    tables = trained([12], processes=processes(0.1, 0.1), **stood((busy, FETCH), (busy, FETCH)))
    tables["loaders"] = passes(persistent=True, workers=2)

    found = diagnosed(tmp_path / "r", **tables)

    told = sum(one.at_stake_ns for one in found.findings if one.slug == "input-bound")
    assert told == pytest.approx(at_stake, rel=0.05)


def test_a_worker_that_rests_at_times_takes_nothing_off_what_is_told_by_its_work(tmp_path: Path) -> None:
    """It is seen to work for 60 % of the training: these are waits. Kernels have 8 ms of each step of 40."""
    made = [("worker", "<python>/multiprocessing/pool.py", 125), ("batches", "train.py", 21)]
    rests = [("worker", "<python>/multiprocessing/pool.py", 114)]
    beside = sampled((2, 5.6, made), (5.6, 8, rests), thread="Thread-1 (worker)")
    tables = trained([0], **beside, **runs.window([{**KERNELS[0], "ms": 8}]))
    tables["loaders"] = passes(workers=1, uses_processes=False, kind="generator")

    finding = pick(diagnosed(tmp_path / "r", on("mxnet"), **tables), "input-bound")

    assert finding.at_stake_ns == pytest.approx(6 * S * 0.6 * 0.8, rel=0.01)


@pytest.mark.parametrize(("file", "is_read"), [("h5py/_hl/dataset.py", True), ("numpy/core/fromnumeric.py", False)])
def test_workers_that_mostly_read_are_told_how_to_read_less(file: str, is_read: bool, tmp_path: Path) -> None:
    """Both are busy all the time, below the line that makes an item: in a library for files, or in one that computes."""
    inside: list[Call] = [*FETCH, ("Dataset.__getitem__", file, 820)]
    tables = trained([12], processes=processes(1.9, 1.9), **stood((0.95, inside), (0.95, inside)))
    finding = pick(diagnosed(tmp_path / "r", **tables), "input-bound")

    assert ("reading 100 %. Open each file once" in finding.next_step) == is_read
    assert (finding.fix or "").startswith("functools.lru_cache on what reads a file") == is_read


def test_workers_that_read_rows_of_hdf5_archives_are_told_of_chunks(tmp_path: Path) -> None:
    """The file is open all the time, and a row is read: what costs is the chunk around it."""
    inside: list[Call] = [*FETCH, ("Dataset.__getitem__", "h5py/_hl/dataset.py", 820)]
    tables = trained([12], processes=processes(1.9, 1.9), **stood((0.95, inside), (0.95, inside)))
    run = runs.trained(tmp_path / "r", **tables)
    keep_source(run, "import h5py\n")

    finding = pick(diagnose.diagnose(run), "input-bound")

    assert "reading 100 %. HDF5 reads and unpacks a whole chunk for each row" in finding.next_step
    assert "create_dataset(chunks=...)" in (finding.fix or "")


def test_code_around_a_fit_is_not_blamed_for_its_input(tmp_path: Path) -> None:
    """The script made its files for a second, and an iterator of the engine's own feeds the training."""
    phases = ("import", 0, 1), ("script", 1, 2), ("fit.steps", 2, 6), ("fit.input", 6, 8), ("teardown", 8, 10)
    stood = sampled((1, 2, [("<module>", "train.py", 16)]), (6, 8, [("<module>", "train.py", 37), FIT[1]]))
    tables = waiting_for_input(spans=[runs.fit_span(adapter="TFDatasetAdapter")], **stood)
    tables["phases"] = parts(import_=1, script=1, fit_steps=4, fit_input=2, teardown=2)
    tables["phase_intervals"] = runs.intervals(*phases)

    assert pick(diagnosed(tmp_path / "r", **tables), "input-bound").line == 37


def test_the_slowest_stage_of_the_engines_own_pipeline_is_named(tmp_path: Path) -> None:
    """With its function, its line and what it takes for a batch."""
    row = {"window": 0, "pipeline": 0, "asynchronous": False, "starting_ns": 0, "total_ns": S}
    mapped = {"asynchronous": True, "function_ns": 2 * S, "parallelism": 4, "file": "train.py", "line": 33}
    stages = [
        {**row, "stage": 0, "name": "Root", "element_count": 10, "own_ns": 0},
        {
            **row,
            "stage": 1,
            "parent": 0,
            "name": "ParallelMapV2",
            "element_count": 80,
            "own_ns": S,
            "function": "load",
            **mapped,
        },
    ]
    window = {"window": 0, "engine": "tensorflow", "loop": "train", "steps": 10, "start_ns": 3 * S, "dur_ns": S}
    tables = waiting_for_input(input_stages=stages, kernel_windows=[window], **MADE)
    finding = pick(diagnosed(tmp_path / "r", **tables), "input-bound")

    said = "In a kernel window its slowest stage was ParallelMapV2, which calls load, made at train.py:33: 50.0 ms for a batch with 4 at a time."
    assert said in finding.next_step


@pytest.mark.parametrize(("stage", "is_told"), [("Shard", True), ("FiniteSkip", False)])
def test_what_is_dropped_behind_the_slowest_stage_is_to_be_dropped_in_front_of_it(
    stage: str, is_told: bool, tmp_path: Path
) -> None:
    """Each worker maps all, and a shard of it goes on. What is skipped once at the beginning of a pass says little."""
    row = {"window": 0, "pipeline": 0, "starting_ns": 0, "total_ns": S, "asynchronous": False, "file": "train.py"}
    mapped = {"stage": 2, "parent": 1, "name": "Map", "element_count": 40, "own_ns": S, "function": "load", "line": 33}
    stages = [
        {**row, "stage": 0, "name": "Root", "element_count": 10, "own_ns": 0, "file": None},
        {**row, "stage": 1, "parent": 0, "name": stage, "element_count": 10, "own_ns": 0, "line": 34},
        {**row, **mapped},
        {**row, "stage": 3, "parent": 2, "name": "TFRecord", "element_count": 40, "own_ns": 0, "line": 32},
    ]
    window = {"window": 0, "engine": "tensorflow", "loop": "train", "steps": 10, "start_ns": 3 * S, "dur_ns": S}
    tables = waiting_for_input(input_stages=stages, kernel_windows=[window], **MADE)

    finding = pick(diagnosed(tmp_path / "r", **tables), "input-bound")

    assert ("Shard at line 34 drops 75 % of what it makes" in finding.next_step) == is_told
    assert (finding.fix == "line 34 in front of .map(load) at line 33") == is_told


@pytest.mark.parametrize("name", ["MemoryCache", "TensorSlice"])
def test_a_cache_in_front_of_the_slowest_stage_is_to_stand_behind_it(tmp_path: Path, name: str) -> None:
    """It keeps what goes into the map, which is made anew in each epoch; data that lie in memory are no cache."""
    row = {"window": 0, "pipeline": 0, "starting_ns": 0, "total_ns": S, "asynchronous": False, "file": "train.py"}
    stages = [
        {**row, "stage": 0, "name": "Root", "element_count": 10, "own_ns": 0, "file": None},
        {
            **row,
            "stage": 1,
            "parent": 0,
            "name": "Map",
            "element_count": 10,
            "own_ns": S,
            "function": "mel",
            "line": 33,
        },
        {**row, "stage": 2, "parent": 1, "name": name, "element_count": 10, "own_ns": 0, "line": 32},
    ]
    window = {"window": 0, "engine": "tensorflow", "loop": "train", "steps": 10, "start_ns": 3 * S, "dur_ns": S}
    tables = waiting_for_input(input_stages=stages, kernel_windows=[window], **MADE)

    finding = pick(diagnosed(tmp_path / "r", **tables), "input-bound")

    is_cache = name == "MemoryCache"
    assert ("The cache at line 32 keeps what goes into it" in finding.next_step) == is_cache
    assert (finding.fix or "").startswith(
        ".cache() behind .map(mel) at line 33, not in front of it (line 32)"
    ) == is_cache


@pytest.mark.parametrize(("own_ms", "said"), [(32, True), (640, False)])
def test_a_function_that_is_called_for_each_element_is_told_to_take_batches(
    tmp_path: Path, own_ms: int, said: bool
) -> None:
    """320 elements of ten batches, 100 us each; those of 2 ms have enough to do."""
    row = {"window": 0, "pipeline": 0, "starting_ns": 0, "total_ns": S, "asynchronous": False}
    mapped = {"function": "scale", "file": "train.py", "line": 33, "own_ns": own_ms * 1_000_000}
    stages = [
        {**row, "stage": 0, "name": "Root", "element_count": 10, "own_ns": 0},
        {**row, "stage": 1, "parent": 0, "name": "BatchV2", "element_count": 10, "own_ns": 0, "batch_size": 32},
        {**row, "stage": 2, "parent": 1, "name": "Map", "element_count": 320, **mapped},
    ]
    window = {"window": 0, "engine": "tensorflow", "loop": "train", "steps": 10, "start_ns": 3 * S, "dur_ns": S}
    tables = waiting_for_input(input_stages=stages, kernel_windows=[window], **MADE)

    advice = pick(diagnosed(tmp_path / "r", **tables), "input-bound").next_step

    told = "scale is called for each of 32 elements of a batch, 100 µs each: put .batch(...) in front of .map(...)"
    assert (told in advice) == said


@pytest.mark.parametrize(("own_ms", "said"), [(32, True), (640, False)])
def test_a_generator_that_gives_rows_one_by_one_is_told_to_yield_batches(
    tmp_path: Path, own_ms: int, said: bool
) -> None:
    """320 rows of ten batches, 100 us each; those of 2 ms have enough to do."""
    row = {"window": 0, "pipeline": 0, "starting_ns": 0, "total_ns": S, "asynchronous": False}
    made = {"file": "train.py", "line": 17, "own_ns": own_ms * 1_000_000}
    stages = [
        {**row, "stage": 0, "name": "Root", "element_count": 10, "own_ns": 0},
        {**row, "stage": 1, "parent": 0, "name": "BatchV2", "element_count": 10, "own_ns": 0, "batch_size": 32},
        {**row, "stage": 2, "parent": 1, "name": "Generator", "element_count": 320, **made},
    ]
    window = {"window": 0, "engine": "tensorflow", "loop": "train", "steps": 10, "start_ns": 3 * S, "dur_ns": S}
    tables = waiting_for_input(input_stages=stages, kernel_windows=[window], **MADE)
    finding = pick(diagnosed(tmp_path / "r", **tables), "input-bound")

    told = "is asked for each of the 32 elements of a batch, 100 µs each"
    assert (told in finding.next_step) == said
    assert ("yield rows[i:i + N]" in str(finding.fix)) == said


def epochs(first_ms: float) -> list[dict[str, Any]]:
    """Five epochs of ten steps of 5 ms, the first of which takes so long in each but the first one."""
    rows, at = [], 2_000.0
    for row in runs.steps(50):
        epoch, step = divmod(row["step"], 10)
        ms = first_ms if epoch and not step else 5.0
        rows.append({**row, "epoch": epoch, "step": step, "start_ns": int(at * MS), "dur_ns": int(ms * MS)})
        at += ms
    return rows


@pytest.mark.parametrize(("first_ms", "is_told"), [(165.0, True), (20.0, False)])
def test_the_first_batch_of_each_epoch_may_be_what_is_waited_for(
    tmp_path: Path, first_ms: float, is_told: bool
) -> None:
    """160 ms more, four times: no kernel window shows it, as its steps are steady ones."""
    phases = {"phases": parts(fit_steps=0.9, teardown=7.1)}
    intervals = runs.intervals(("import", 0, 2), ("fit.steps", 2, 2.9), ("teardown", 2.9, 10))
    window = runs.window([{**KERNELS[0], "ms": 4}], begin_s=2.1, dur_ms=5)
    tables = {"steps": epochs(first_ms), "phase_intervals": intervals, **phases, **window, "spans": [runs.fit_span()]}
    found = diagnosed(tmp_path / "r", on("tensorflow", input_inside_step=True), **tables)

    told = [one for one in found.findings if one.slug == "input-bound"]
    assert bool(told) is is_told
    assert all("takes 160 ms more than the others (4 times)" in one.next_step for one in told)
    assert all(one.at_stake_ns == pytest.approx(640 * MS, rel=0.15) for one in told)


@pytest.mark.parametrize(
    ("count", "title"), [(199, "An iterator was made anew for each batch"), (20, "The training waited for its input")]
)
def test_iterators_that_give_one_batch_each_are_named(count: int, title: str, tmp_path: Path) -> None:
    """`next(iter(...))` in each of 200 steps; in one of ten it is for something else."""
    span = runs.span(
        "fit", 2, 8, name="fit", span_id=1,
        detail=json.dumps({"how": "inferred", "opened_once": {"count": count, "line": 30}}),
    )  # fmt: skip
    finding = pick(diagnosed(tmp_path / "r", **waiting_for_input(**MADE, spans=[span])), "input-bound")

    assert finding.title is not None
    assert (finding.title.text, finding.line) == (title, 30 if count > 100 else 21)


@pytest.mark.parametrize(("thread", "beside"), [("MainThread", False), ("feeder", True)])
def test_what_is_made_on_another_thread_is_not_to_be_put_beside_the_training(
    tmp_path: Path, thread: str, beside: bool
) -> None:
    """It is there already."""
    made = [*FIT, ("__next__", "keras/src/iterator.py", 3), ("batches", "train.py", 21)]
    stood = sampled((6, 8, [*FIT, ("__next__", "keras/src/iterator.py", 3)]), (6, 8, made))
    stood["stacks"][1]["thread"] = thread
    intervals = runs.intervals(("import", 0, 2), ("fit.steps", 2, 5), ("fit.input", 5, 8), ("teardown", 8, 10))
    waits = {"phases": parts(fit_steps=3, fit_input=3, teardown=2), "phase_intervals": intervals}
    finding = pick(diagnosed(tmp_path / "r", **{**waiting_for_input(**stood), **waits}), "input-bound")

    assert finding.next_step.startswith("They are prepared beside the training already, on another thread") is beside


@pytest.mark.parametrize(("worked_s", "rests"), [(0.2, True), (5.0, False)])
def test_a_thread_that_rests_while_its_batches_are_waited_for_waits_itself(
    tmp_path: Path, worked_s: float, rests: bool
) -> None:
    """In 6 s the main thread runs for 1 s, and the one that feeds it sleeps, or works."""
    feeds = [("fill", "train.py", 21)]
    stood = sampled((6, 8, [*FIT, ("__next__", "keras/src/iterator.py", 3)]), (6, 8, feeds))
    stood["stacks"][1]["thread"] = "feeder"
    intervals = runs.intervals(("import", 0, 2), ("fit.steps", 2, 5), ("fit.input", 5, 8), ("teardown", 8, 10))
    ran = {**BEGIN, "run_ns": int((1 + worked_s) * S), "main_run_ns": S}
    waits = {"phases": parts(fit_steps=3, fit_input=3, teardown=2), "phase_intervals": intervals}
    tables = {**waiting_for_input(**stood, **cpu((2.0, BEGIN), (8.0, ran))), **waits}
    finding = pick(diagnosed(tmp_path / "r", **tables), "input-bound")

    assert ("hardly any thread of the process works" in finding.next_step) is rests
    assert str(finding.fix).startswith("queue.Queue(") is rests


@pytest.mark.parametrize(
    ("source", "line", "change"),
    [
        (
            "data = tf.data.TextLineDataset(path)\ndata = data.map(parse)\ndata = data.batch(32)\n",
            2,
            ".batch(...) in front of .map(...) at line 2",
        ),
        ("data = tf.data.TextLineDataset(path).batch(32)\ndata = data.map(parse)\n", 2, "num_parallel_calls"),
    ],
)
def test_a_data_set_whose_stages_were_not_traced_is_told_by_what_is_written(
    source: str, line: int, change: str, tmp_path: Path
) -> None:
    """Rows are mapped in front of the batches, or whole batches are; steps of 20 ms wait 12 ms for them."""
    waits = {"op": "IteratorGetNext", "kind": "input", "category": None, "layer": None, "direction": None, "ms": 12}
    tables = waiting_for_input(**runs.window([waits, {**KERNELS[0], "ms": 8}]))
    run = runs.trained(tmp_path / "r", on("tensorflow", input_inside_step=True), **tables)
    keep_source(run, source)
    finding = pick(diagnose.diagnose(run), "input-bound")

    assert finding.line == line
    assert change in str(finding.fix)


@pytest.mark.parametrize(
    "source", ["words = frame['y'].map(names)\n", "data = tf.data.Dataset.range(9).map(f)\nother = data.map(g)\n"]
)
def test_a_map_that_may_be_another_is_not_blamed(source: str, tmp_path: Path) -> None:
    """Of a table of pandas, or one of several."""
    waits = {"op": "IteratorGetNext", "kind": "input", "category": None, "layer": None, "direction": None, "ms": 12}
    tables = waiting_for_input(**runs.window([waits, {**KERNELS[0], "ms": 8}]))
    run = runs.trained(tmp_path / "r", on("tensorflow", input_inside_step=True), **tables)
    keep_source(run, source)

    assert pick(diagnose.diagnose(run), "input-bound").line is None


def test_a_batch_has_as_many_elements_as_it_is_told_to_have(tmp_path: Path) -> None:
    """A window in which 280 elements were asked for, and ten batches of 32 went out."""
    row = {"window": 0, "pipeline": 0, "starting_ns": 0, "total_ns": S, "asynchronous": False}
    mapped = {"function": "scale", "file": "train.py", "line": 33, "own_ns": 28 * MS}
    stages = [
        {**row, "stage": 0, "name": "Root", "element_count": 10, "own_ns": 0},
        {**row, "stage": 1, "parent": 0, "name": "BatchV2", "element_count": 10, "own_ns": 0, "batch_size": 32},
        {**row, "stage": 2, "parent": 1, "name": "Map", "element_count": 280, **mapped},
    ]
    window = {"window": 0, "engine": "tensorflow", "loop": "train", "steps": 10, "start_ns": 3 * S, "dur_ns": S}
    tables = waiting_for_input(input_stages=stages, kernel_windows=[window], **MADE)

    advice = pick(diagnosed(tmp_path / "r", **tables), "input-bound").next_step

    assert "scale is called for each of 32 elements of a batch, 100 µs each" in advice


def test_workers_that_were_hardly_sampled_make_it_less_sure(tmp_path: Path) -> None:
    """Whether they work on batches all the time, or wait for something themselves, is open."""
    fed = trained([24], processes=processes(1.9, 1.9), loaders=passes(persistent=True))
    seen = Planted({**fed, **stood((1.0, FETCH), (1.0, FETCH))}).diagnosis(tmp_path / "a")
    unseen = Planted(fed).diagnosis(tmp_path / "b")

    assert pick(unseen, "input-bound").confidence < pick(seen, "input-bound").confidence


@pytest.mark.parametrize(("waits", "at_stake"), [(True, 1_600 * MS), (False, None)])
def test_a_thread_that_no_loop_waits_for_makes_no_batches(waits: bool, at_stake: int | None, tmp_path: Path) -> None:
    """It runs the script's own Python for 3 of 6 s of steps; for 2 of these the training stands in a queue, or computes; operators run for a fifth."""
    main: list[Call] = [("<module>", "train.py", 50), ("learn", "train.py", 40)]
    took: Call = ("get", "<python>/queue.py", 171) if waits else ("backward", "torch/_tensor.py", 9)
    made = sampled(
        (2, 4, [*main, took]), (4, 8, [*main, ("backward", "torch/_tensor.py", 9)]), (2, 5, [("make", "train.py", 21)])
    )
    made["stacks"][2]["thread"] = "feeder"
    span = {**runs.fit_span(), "detail": json.dumps({"how": "inferred"})}
    tables = quiet(spans=[span], **runs.window([{**KERNELS[0], "ms": 4}]), **made)
    found = diagnosed(tmp_path / "r", runs.manifest(keras=None), **tables).findings

    assert next((one.at_stake_ns for one in found if one.slug == "input-bound"), None) == at_stake
