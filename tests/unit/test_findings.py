"""Every rule sees its cause in tables of literal rows, and nothing where all is well."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import compare, parity
from dlprof.analysis.compare import Side
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.analysis.findings.rules import RULES
from dlprof.report import diagnosis_json
from dlprof.report.json_text import plain
from tests.unit import runs
from tests.unit.runs import MS, S

Tables = dict[str, Any]
KERNELS = [{"op": "aten::mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 16}]


def found(path: Path, told: dict[str, Any] | None = None, **tables: Any) -> Diagnosis:
    """The diagnosis of a run of 10 s."""
    return diagnose.diagnose(runs.trained(path, told, **tables))


def one(diagnosis: Diagnosis, slug: str) -> Finding:
    """The finding of that name."""
    return next(finding for finding in diagnosis.findings if finding.slug == slug)


def slugs(diagnosis: Diagnosis) -> list[str]:
    """Names of the findings, ranked."""
    return [finding.slug for finding in diagnosis.findings]


def quiet(**changes: Any) -> Tables:
    """Tables of a training without callbacks: 6 s of steps, mostly kernels."""
    return {
        "phases": parts(fit_steps=6, teardown=2),
        "phase_intervals": runs.intervals(("import", 0, 2), ("fit.steps", 2, 8), ("teardown", 8, 10)),
        "steps": runs.steps(300), **runs.window(KERNELS), **changes,
    }  # fmt: skip


def parts(import_: float = 2, **seconds: float) -> list[dict[str, Any]]:
    """Rows of `phases`, with an import in front."""
    return [{"phase": "import", "parent": None, "dur_ns": int(import_ * S), "count": 1}, *runs.phases(**seconds)]


def sampled(*stood: tuple[float, float, list[tuple[str, str, int]]], thread: str = "MainThread") -> Tables:
    """Tables of stacks: (begin, end, frames outermost first) in seconds; train.py is the user's."""
    stacks, frames = [], []
    for number, (begin, end, calls) in enumerate(stood):
        stacks.append({"thread_id": 1, "thread": thread, "start_ns": int(begin * S),
                       "dur_ns": int((end - begin) * S), "stack_id": number})  # fmt: skip
        frames += [
            {"stack_id": number, "depth": depth, "function": f, "file": file, "line": at}
            for depth, (f, file, at) in enumerate(calls)
        ]
    return {"stacks": stacks, "frames": frames}


FIT = [("<module>", "train.py", 7), ("fit", "keras/src/trainer.py", 100)]


def cpu(*rows: tuple[float, dict[str, int]], others: float = 0.0, tree: float = 100.0, **machine: int) -> Tables:
    """Samples of the process, and of the machine with its counters growing from 0 to those given."""
    samples = [
        {"time_ns": int(at * S), "interval_ns": S, "cpu_pct": tree, "rss_bytes": S, "threads": 3, "faults_minor": 0,
         "faults_major": 0, "pid": 42, **counters}
        for at, counters in rows
    ]  # fmt: skip
    moments = [
        {"time_ns": int(at * S), "interval_ns": S, "cpu_pct": tree + others, "others_cpu_pct": others,
         "dlprof_cpu_pct": 1.0, **{name: value * n for name, value in machine.items()}}
        for n, at in enumerate((2.5, 7.5))
    ]  # fmt: skip
    return {"process_samples": samples, "machine": moments}


def threads(count: int, **facts: Any) -> list[dict[str, Any]]:
    """The span of fit on two cores with so many threads of torch."""
    return [runs.fit_span(training={"threads": {"usable_cores": 2, "torch": count}, **facts})]


BUSY = ({"run_ns": 0, "wait_ns": 0, "main_run_ns": 0, "main_wait_ns": 0},
        {"run_ns": 6 * S, "wait_ns": 0, "main_run_ns": 6 * S, "main_wait_ns": 0})  # fmt: skip


def test_a_training_without_a_fault_has_no_finding(tmp_path: Path) -> None:
    """Kernels fill its steps."""
    assert slugs(found(tmp_path / "r", **quiet())) == []


def test_a_slow_callback_is_named_with_its_line(tmp_path: Path) -> None:
    """Its time is that of the phase."""
    calls = [*FIT, ("on_batch_end", "keras/src/callbacks.py", 9), ("on_batch_end", "train.py", 33)]
    finding = one(found(tmp_path / "r", **sampled((7, 8, calls)), **runs.window(KERNELS)), "slow-callback")

    assert (finding.at_stake_ns, finding.file, finding.line) == (S, "train.py", 33)
    assert finding.claim.startswith("Callbacks, most of all on_batch_end in train.py, hold the training up: 1.00 s")


def test_collections_in_callbacks_are_not_slow_callbacks(tmp_path: Path) -> None:
    """0.8 s of the callbacks' second are the collector's."""
    gc = [{"start_ns": 7 * S + n * 100 * MS, "dur_ns": 80 * MS, "generation": 2, "collected": 5} for n in range(10)]
    diagnosis = found(tmp_path / "r", gc=gc, **runs.window(KERNELS))

    assert one(diagnosis, "gc-pressure").at_stake_ns == 800 * MS
    assert one(diagnosis, "slow-callback").at_stake_ns == 200 * MS


def test_collections_of_imports_are_nobodys_fault(tmp_path: Path) -> None:
    """Every framework has them."""
    gc = [{"start_ns": S, "dur_ns": 800 * MS, "generation": 2, "collected": 5}]

    assert slugs(found(tmp_path / "r", **quiet(gc=gc))) == []


def test_waiting_for_batches_is_input(tmp_path: Path) -> None:
    """2 s of 6 between the steps."""
    calls = [*FIT, ("__next__", "keras/src/iterator.py", 3), ("batches", "train.py", 21)]
    tables = quiet(
        phases=parts(fit_steps=4, fit_input=2, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 6), ("fit.input", 6, 8), ("teardown", 8, 10)),
        steps=runs.steps(200), **sampled((6, 8, calls)),
    )  # fmt: skip
    finding = one(found(tmp_path / "r", **tables), "input-bound")

    assert (finding.at_stake_ns, finding.file, finding.line) == (2 * S, "train.py", 21)


def test_what_keras_does_with_every_batch_is_not_at_stake(tmp_path: Path) -> None:
    """The script's generator works for 1.5 of the 2 s between the steps."""
    keras = [*FIT, ("__next__", "keras/src/iterator.py", 3)]
    tables = quiet(
        phases=parts(fit_steps=4, fit_input=2, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 6), ("fit.input", 6, 8), ("teardown", 8, 10)),
        steps=runs.steps(200), **sampled((6, 7.5, [*keras, ("batches", "train.py", 21)]), (7.5, 8, keras)),
    )  # fmt: skip

    assert one(found(tmp_path / "r", **tables), "input-bound").at_stake_ns == pytest.approx(1_500 * MS, rel=0.01)


def epochs_with_waits(cpu_pct: float) -> Tables:
    """Four epochs of 50 steps on TensorFlow, before three of which the training waits for 0.5 s."""
    rows = [
        {
            **row,
            "epoch": epoch,
            "start_ns": row["start_ns"] + int(epoch * 1.5 * S),
            "input_ns": S // 2 * (n == 0 < epoch),
        }
        for epoch in range(4)
        for n, row in enumerate(runs.steps(50))
    ]
    used = [
        {"time_ns": n * S // 10, "interval_ns": S // 10, "cpu_pct": cpu_pct, "rss_bytes": S, "threads": 3}
        for n in range(1, 100)
    ]
    return quiet(
        phases=parts(fit_steps=4.5, fit_input=1.5, teardown=2), steps=rows, process_samples=used,
        epochs=[{"loop_id": 1, "epoch": n, "start_ns": 0, "dur_ns": S, "steps": 50} for n in range(4)],
    )  # fmt: skip


def test_idle_waits_before_epochs_are_a_restart_of_the_pipeline(tmp_path: Path) -> None:
    """Three of half a second, in which the process used no core."""
    finding = one(found(tmp_path / "r", tensorflow(), **epochs_with_waits(2.0)), "iterator-restart")

    assert (finding.at_stake_ns, finding.file, finding.line) == (1_500 * MS, "train.py", 7)
    assert finding.claim.startswith("Before 3 of 4 epochs the process did nothing")
    assert finding.remedy is not None
    assert finding.remedy.overrides == {"autotune": False}


def test_busy_waits_before_epochs_are_input(tmp_path: Path) -> None:
    """A pipeline that fills its buffers works meanwhile."""
    assert "iterator-restart" not in slugs(found(tmp_path / "r", tensorflow(), **epochs_with_waits(95.0)))


def own_loop(**changes: Any) -> Tables:
    """A loop of the script over train_on_batch: 100 steps of 20 ms, and 20 ms between them."""
    steps = runs.steps(100, dur_ms=40, start_s=2)
    for row in steps:
        row["dur_ns"] = 20 * MS
    return {
        "phases": parts(fit_steps=2, script=4, teardown=2), "steps": steps,
        "phase_intervals": runs.intervals(("import", 0, 2), ("script", 2, 8), ("teardown", 8, 10)),
        "spans": [runs.span("on_batch", 2, 2, name="train_on_batch", span_id=1)], **changes,
    }  # fmt: skip


def test_time_between_own_calls_of_a_step_is_input(tmp_path: Path) -> None:
    """99 times 20 ms."""
    assert one(found(tmp_path / "r", **own_loop()), "input-bound").at_stake_ns == 1_980 * MS


def test_kernels_beside_a_loop_of_the_scripts_own_are_no_input(tmp_path: Path) -> None:
    """On MXNet half of the 1.98 s between the steps is kernels; 2 s more of the script are no input either way."""
    tables = own_loop(**runs.window([{**KERNELS[0], "ms": 30}], dur_ms=40.0))
    diagnosis = found(tmp_path / "r", tensorflow(backend="mxnet"), **tables)

    assert one(diagnosis, "input-bound").at_stake_ns == 990 * MS


@pytest.mark.parametrize(("works_until", "at_stake"), [(6, 1_800 * MS), (8, 3_800 * MS)])
def test_waits_in_which_the_generator_rests_are_not_for_batches(
    tmp_path: Path, works_until: int, at_stake: int
) -> None:
    """TensorFlow's step of 20 ms waits 12 ms for it; in the 2 s between steps it works or rests; 0.6 s are usual."""
    made = [("batches", "train.py", 21), ("generator_py_func", "tensorflow/python/data/ops/from_generator_op.py", 9)]
    told = tensorflow()
    told["backend"]["input_inside_step"] = True
    tables = quiet(
        phases=parts(fit_steps=4, fit_input=2, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 6), ("fit.input", 6, 8), ("teardown", 8, 10)),
        steps=runs.steps(200), **sampled((2, works_until, made[::-1]), thread="thread 9"),
        **runs.window([{**KERNELS[0], "ms": 8}]),
    )  # fmt: skip

    finding = one(found(tmp_path / "r", told, **tables), "input-bound")

    assert finding.at_stake_ns == pytest.approx(at_stake, rel=0.01)


@pytest.mark.parametrize("measured", [False, True])
def test_an_import_is_a_cause_where_page_faults_were_not_measured(tmp_path: Path, measured: bool) -> None:
    """Not measured is not 0: a run that read 200 pages is not called cold beside one of which nothing is known."""
    told = runs.manifest(process={**runs.manifest()["process"], "wall_ns": 12 * S})
    slow = {**imported(4, 200), "phases": parts(import_=4, fit_steps=6, teardown=2)}
    fast = imported(2, 20)
    for row in fast["process_samples"]:
        row["faults_major"] = 20 if measured else None
    sides = (
        Side("a", (runs.trained(tmp_path / "a", told, **slow),)),
        Side("b", (runs.trained(tmp_path / "b", **fast),)),
    )

    assert ("import-heavy" in slugs(diagnose.diagnose_gap(compare.compare(*sides)))) != measured


def test_files_that_hold_the_input_up_are_io(tmp_path: Path) -> None:
    """The same wait, with reads by the thousand and stacks in numpy's reader."""
    calls = [*FIT, ("__getitem__", "train.py", 21), ("load", "numpy/lib/npyio.py", 4)]
    samples = cpu((2.5, {"io_calls": 0, "read_bytes": 0, "write_bytes": 0}),
                  (7.5, {"io_calls": 9000, "read_bytes": 10**8, "write_bytes": 0}))  # fmt: skip
    tables = quiet(
        phases=parts(fit_steps=4, fit_input=2, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 6), ("fit.input", 6, 8), ("teardown", 8, 10)),
        steps=runs.steps(200), **sampled((6, 8, calls)), **samples,
    )  # fmt: skip
    diagnosis = found(tmp_path / "r", **tables)

    assert slugs(diagnosis) == ["io-bound"]
    assert one(diagnosis, "io-bound").at_stake_ns == 2 * S


def test_what_keras_saves_is_no_work_on_files(tmp_path: Path) -> None:
    """A callback that reads for 0.2 s, and saves the model for 0.8 s with files of Keras and of h5py."""
    called = [*FIT, ("on_epoch_end", "keras/src/callbacks/callback_list.py", 9), ("on_epoch_end", "train.py", 33)]
    saving = [*called, ("save_weights", "keras/src/saving/saving_api.py", 5), ("write", "h5py/_hl/dataset.py", 6)]
    samples = cpu((2.5, {"io_calls": 0, "read_bytes": 0, "write_bytes": 0}),
                  (7.5, {"io_calls": 9000, "read_bytes": 10**8, "write_bytes": 0}))  # fmt: skip
    stood = sampled((7, 7.2, [*called, ("load", "numpy/lib/npyio.py", 4)]), (7.2, 8, saving))

    diagnosis = found(tmp_path / "r", **stood, **samples, **runs.window(KERNELS))

    assert one(diagnosis, "io-bound").at_stake_ns == 200 * MS


def test_saves_in_callbacks_are_checkpoints(tmp_path: Path) -> None:
    """Three of 0.3 s."""
    saves = [runs.span("save", 7 + n * 0.3, 7.3 + n * 0.3, name="save", line=40) for n in range(3)]
    diagnosis = found(tmp_path / "r", spans=[runs.fit_span(), *saves], **runs.window(KERNELS))

    assert one(diagnosis, "checkpoint-heavy").at_stake_ns == 900 * MS
    assert one(diagnosis, "checkpoint-heavy").line == 40
    assert "slow-callback" not in slugs(diagnosis)


def test_a_model_saved_once_is_no_finding(tmp_path: Path) -> None:
    """One file at the end is what training is for."""
    tables = quiet(spans=[runs.fit_span(), runs.span("save", 7, 7.5)])

    assert slugs(found(tmp_path / "r", **tables)) == []


def test_long_validation_is_named(tmp_path: Path) -> None:
    """2 s of 6."""
    tables = quiet(
        phases=parts(fit_steps=4, fit_validation=2, teardown=2), steps=runs.steps(200),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 6), ("fit.validation", 6, 8), ("teardown", 8, 10)),
        spans=[runs.fit_span(), runs.span("evaluate", 6, 8)],
    )  # fmt: skip
    assert one(found(tmp_path / "r", **tables), "validation-heavy").at_stake_ns == 2 * S


def recompiled(count: int) -> list[dict[str, Any]]:
    """Spans of fit, and of so many recompilations of 0.2 s from 3 s on."""
    detail = {"compiled": {"function": "step", "again": True,
                           "cause": [{"argument": "x", "what": "shape", "before": "(2,)", "now": "(3,)"}]}}  # fmt: skip
    spans = [
        runs.span("graph_compile", 3 + n * 0.3, 3.2 + n * 0.3, span_id=9 + n, detail=json.dumps(detail), line=12)
        for n in range(count)
    ]
    return [runs.fit_span(), *spans]


def compiling(count: int) -> Tables:
    """A training in which so many graphs were compiled again."""
    seconds = count * 0.2
    pieces = [("import", 0.0, 2.0), ("fit.steps", 2.0, 3.0)]
    for n in range(count):
        pieces += [("fit.graph_compile", 3 + n * 0.3, 3.2 + n * 0.3), ("fit.steps", 3.2 + n * 0.3, 3.3 + n * 0.3)]
    pieces += [("fit.steps", 3 + count * 0.3, 8.0), ("teardown", 8.0, 10.0)]
    return quiet(
        phases=parts(fit_steps=6 - seconds, fit_graph_compile=seconds, teardown=2), spans=recompiled(count),
        phase_intervals=runs.intervals(*pieces), steps=runs.steps(int(300 - seconds * 50)),
    )  # fmt: skip


def test_graphs_compiled_again_and_again_are_retracing(tmp_path: Path) -> None:
    """With the argument that changed, and the line."""
    finding = one(found(tmp_path / "r", **compiling(6)), "retracing")

    assert finding.at_stake_ns == 1_200 * MS
    assert finding.line == 12
    assert "6 graphs were compiled again, most often step (shape of x: (2,) to (3,))" in finding.claim


def test_the_first_run_of_a_graph_that_was_compiled_again_is_retracing(tmp_path: Path) -> None:
    """0.05 s after each of six recompilations of 0.2 s; that of a graph compiled for the first time is not."""
    first_runs = [
        runs.span("first_run", 3.2 + n * 0.3, 3.25 + n * 0.3, span_id=20 + n, thread="MainThread") for n in range(6)
    ]
    for_the_first_time = [
        runs.span("graph_compile", 5.0, 5.2, span_id=40), runs.span("first_run", 5.2, 6.2, span_id=41),
    ]  # fmt: skip
    tables = compiling(6)
    tables["spans"] += [*first_runs, *for_the_first_time]

    assert one(found(tmp_path / "r", **tables), "retracing").at_stake_ns == 1_500 * MS


def test_the_short_last_batch_is_no_retracing(tmp_path: Path) -> None:
    """Two more graphs are usual."""
    assert "retracing" not in slugs(found(tmp_path / "r", **compiling(2)))


def tensorflow(**changes: Any) -> dict[str, Any]:
    """The manifest of a run on TensorFlow or another backend of Keras."""
    name = changes.pop("backend", "tensorflow")
    asynchronous = changes.pop("asynchronous", False)
    backend = {**runs.manifest()["backend"], "name": name, "asynchronous_dispatch": asynchronous}
    return runs.manifest(backend=backend, keras={"backend": name}, engine={"name": name}, **changes)


SMALL = [{"op": "Mul", "category": "elementwise", "layer": "dense", "direction": "forward", "ms": 2}]


def test_an_eager_model_is_named(tmp_path: Path) -> None:
    """Kernels run in a tenth of the step: 85 % of the rest is at stake, and 70 % of what a graph would join."""
    tables = quiet(spans=[runs.fit_span(training={"run_eagerly": True})], **runs.window(SMALL))
    finding = one(found(tmp_path / "r", tensorflow(), **tables), "eager-execution")

    assert finding.at_stake_ns == pytest.approx(0.85 * 5.4 * S + 0.7 * 0.6 * S, rel=0.01)
    assert finding.basis == "estimated"
    assert finding.remedy is not None
    assert finding.remedy.overrides["run_eagerly"] is False


def test_a_model_on_torch_is_eager_by_nature(tmp_path: Path) -> None:
    """There is nothing to switch off."""
    tables = quiet(spans=[runs.fit_span(training={"run_eagerly": True})])

    assert "eager-execution" not in slugs(found(tmp_path / "r", **tables))


def test_jax_without_its_compiler_is_named(tmp_path: Path) -> None:
    """`jit_compile=False`."""
    tables = quiet(spans=[runs.fit_span(training={"jit_compile": False})], **runs.window(SMALL))

    assert "jit-off" in slugs(found(tmp_path / "r", tensorflow(backend="jax"), **tables))
    assert "jit-off" not in slugs(found(tmp_path / "s", tensorflow(), **tables))


def test_a_switch_for_debugging_is_named(tmp_path: Path) -> None:
    """With what to do without it."""
    tables = quiet(spans=[runs.fit_span(training={"flags": {"torch.autograd.set_detect_anomaly": True}})])
    finding = one(found(tmp_path / "r", **tables), "debug-mode")

    assert "torch.autograd.set_detect_anomaly" in finding.claim
    assert finding.remedy is not None
    assert finding.remedy.overrides == {"flags_off": ["torch.autograd.set_detect_anomaly"]}


def test_detecting_anomalies_costs_twice_the_stacks_that_torch_keeps(tmp_path: Path) -> None:
    """A quarter of the 6 s of steps in Python's traceback: half is at stake."""
    keeping = [*FIT, ("format_list", "<python>/traceback.py", 4)]
    tables = quiet(
        spans=[runs.fit_span(training={"flags": {"torch.autograd.set_detect_anomaly": True}})],
        **sampled((2, 3.5, keeping), (3.5, 8, FIT)),
    )

    assert one(found(tmp_path / "r", **tables), "debug-mode").at_stake_ns == pytest.approx(3 * S, rel=0.01)


def test_without_onednn_half_of_the_matrix_products_is_at_stake(tmp_path: Path) -> None:
    """They take 16 of each 20 ms of 6 s."""
    flags = {"TF_ENABLE_ONEDNN_OPTS=0": True}
    finding = one(found(tmp_path / "r", **quiet(spans=[runs.fit_span(training={"flags": flags})])), "debug-mode")

    assert finding.at_stake_ns == pytest.approx(2_400 * MS, rel=0.01)
    assert finding.remedy is not None
    assert finding.remedy.environment == {"TF_ENABLE_ONEDNN_OPTS": None}


def test_64_bit_floats_cost_a_part_of_the_kernels(tmp_path: Path) -> None:
    """16 of each 20 ms are kernels: 4.8 s, of which 0.3 on torch."""
    spans = [runs.fit_span(training={"floatx": "float64", "weights": {"count": 10, "dtype": "float64"}})]

    assert one(found(tmp_path / "r", **quiet(spans=spans)), "double-precision").at_stake_ns == pytest.approx(
        0.3 * 4.8 * S, rel=0.01
    )


def test_transposes_are_named_with_their_layer(tmp_path: Path) -> None:
    """A quarter of the step."""
    kernels = [*KERNELS[:0], {**KERNELS[0], "ms": 11},
               {"op": "aten::transpose_copy", "category": "data movement", "layer": "permute", "direction": "forward",
                "ms": 5}]  # fmt: skip
    finding = one(found(tmp_path / "r", **quiet(**runs.window(kernels))), "layout-transpose")

    assert finding.at_stake_ns == pytest.approx(1.5 * S, rel=0.01)
    assert "most of all in permute (forward)" in finding.claim


def test_one_thread_on_two_cores_is_named(tmp_path: Path) -> None:
    """Half of the cores stand idle, and kernels fill the steps."""
    tables = quiet(spans=threads(1), **cpu((2.5, BUSY[0]), (7.5, BUSY[1])))
    finding = one(found(tmp_path / "r", **tables), "threads-underused")

    assert finding.at_stake_ns == pytest.approx(0.5 * 0.8 * 4.8 * S, rel=0.01)
    assert finding.remedy is not None
    assert finding.remedy.environment["OMP_NUM_THREADS"] == "2"


def test_as_many_threads_as_cores_are_well(tmp_path: Path) -> None:
    """Nothing to gain."""
    assert slugs(found(tmp_path / "r", **quiet(spans=threads(2), **cpu((2.5, BUSY[0]), (7.5, BUSY[1]))))) == []


WAITING = {"run_ns": 9 * S, "wait_ns": 6 * S, "main_run_ns": 3 * S, "main_wait_ns": 2 * S}


def test_more_threads_than_cores_are_named(tmp_path: Path) -> None:
    """They wait for each other 40 % of their runnable time."""
    tables = quiet(spans=threads(16), **cpu((2.5, BUSY[0]), (7.5, WAITING), tree=200.0))

    finding = one(found(tmp_path / "r", **tables), "threads-oversubscribed")

    assert "16 computing threads share 2 cores" in finding.claim


def test_threads_that_ended_did_wait(tmp_path: Path) -> None:
    """What a process has waited is a sum over its living threads; at the end of the training nearly all are gone."""
    rows = cpu((2.5, BUSY[0]), (7.5, WAITING), (8.0, BUSY[0]), tree=200.0)

    assert "threads-oversubscribed" in slugs(found(tmp_path / "r", **quiet(spans=threads(16), **rows)))


def test_other_programs_are_named(tmp_path: Path) -> None:
    """They use a core and a half, and our threads wait 40 % of their runnable time."""
    tables = quiet(spans=threads(2), **cpu((2.5, BUSY[0]), (7.5, WAITING), others=150.0))
    finding = one(found(tmp_path / "r", tensorflow(), **tables), "cpu-contention")

    assert finding.at_stake_ns == pytest.approx(0.85 * 0.4 * 6 * S, rel=0.01)


def test_threads_in_step_lose_what_the_slowest_of_them_waits(tmp_path: Path) -> None:
    """PyTorch's two threads wait for each other at the end of each operation."""
    tables = quiet(spans=threads(2), **cpu((2.5, BUSY[0]), (7.5, WAITING), others=150.0))
    finding = one(found(tmp_path / "r", **tables), "cpu-contention")

    assert finding.at_stake_ns == pytest.approx(2 * 0.85 * 0.4 * 6 * S, rel=0.01)


def test_a_quota_is_named(tmp_path: Path) -> None:
    """The control group was held back for 3 s."""
    tables = quiet(**cpu((2.5, BUSY[0]), (7.5, BUSY[1]), throttled_ns=3 * S))

    assert one(found(tmp_path / "r", **tables), "cpu-throttled").at_stake_ns == pytest.approx(3 * S, rel=0.01)


def test_waiting_for_memory_is_named(tmp_path: Path) -> None:
    """2 s of stalls that the kernel counted."""
    tables = quiet(**cpu((2.5, BUSY[0]), (7.5, BUSY[1]), stall_memory_ns=2 * S))

    assert one(found(tmp_path / "r", **tables), "memory-pressure").at_stake_ns == pytest.approx(2 * S, rel=0.01)


def test_memory_is_waited_for_where_the_scripts_own_code_is_called(tmp_path: Path) -> None:
    """1 s of stalls, in the 2 s for which a generator makes batches: it leaves the other second to the input."""
    calls = [*FIT, ("__next__", "keras/src/iterator.py", 3), ("batches", "train.py", 21)]
    tables = quiet(
        phases=parts(fit_steps=4, fit_input=2, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 6), ("fit.input", 6, 8), ("teardown", 8, 10)),
        steps=runs.steps(200), **sampled((6, 8, calls)), **cpu((2.5, BUSY[0]), (5.5, BUSY[1]), stall_memory_ns=S),
    )  # fmt: skip
    diagnosis = found(tmp_path / "r", **tables)

    assert {one.slug: one.at_stake_ns for one in diagnosis.findings} == {"memory-pressure": S, "input-bound": S}


def test_waiting_for_values_of_the_device_is_named(tmp_path: Path) -> None:
    """A callback stands in JAX's own conversion to numpy: on a GPU all that does not overlap with kernels is lost."""
    calls = [*FIT, ("on_batch_end", "train.py", 33), ("_value", "jax/_src/array.py", 5)]
    tables = {**sampled((7, 8, calls)), **runs.window([{**KERNELS[0], "ms": 10, "device": 0}])}
    spans = [runs.fit_span(training={"jit_compile": True})]
    diagnosis = found(tmp_path / "r", tensorflow(backend="jax", asynchronous=True), spans=spans, **tables)

    assert one(diagnosis, "host-sync").at_stake_ns == 6 * S - 250 * 10 * MS
    assert (one(diagnosis, "host-sync").file, one(diagnosis, "host-sync").line) == ("train.py", 33)
    assert "slow-callback" not in slugs(diagnosis)


def in_callbacks(*calls: tuple[str, str, int]) -> Tables:
    """Steps of 4 s, and 2 s of callbacks in which these frames stand."""
    return quiet(
        phases=parts(fit_steps=4, fit_callbacks=2, teardown=2),
        phase_intervals=runs.intervals(
            ("import", 0, 2), ("fit.steps", 2, 6), ("fit.callbacks", 6, 8), ("teardown", 8, 10)
        ),
        **sampled((6, 8, [*FIT, *calls])),
    )


def test_on_a_processor_starting_work_is_not_lost_by_waiting(tmp_path: Path) -> None:
    """The same stacks: the host's own work takes time from the kernels even where both go on at once."""
    calls = [*FIT, ("on_batch_end", "train.py", 33), ("_value", "jax/_src/array.py", 5)]
    tables = {**sampled((7, 8, calls)), **runs.window([{**KERNELS[0], "ms": 10}])}
    diagnosis = found(tmp_path / "r", tensorflow(backend="jax", asynchronous=True), **tables)

    assert "host-sync" not in slugs(diagnosis)


def test_fetching_logs_after_each_batch_is_waiting_for_the_device(tmp_path: Path) -> None:
    """Keras does that where a callback has a method for batches; in 0.8 s of the 2 s the device works meanwhile."""
    keras = "keras/src/callbacks/callback_list.py"
    tables = in_callbacks(("CallbackList._on_train_batch_end", keras, 1), ("pythonify_logs", "keras/src/utils.py", 2))
    diagnosis = found(tmp_path / "r", tensorflow(backend="jax", asynchronous=True), **tables)

    assert one(diagnosis, "host-sync").at_stake_ns == 1200 * MS


def test_python_inside_steps_is_named(tmp_path: Path) -> None:
    """A layer in Python stands in its own line for half of the steps, and no kernel runs then."""
    calls = [*FIT, ("call", "train.py", 15)]
    tables = quiet(**{**runs.window([{**KERNELS[0], "ms": 8}]), **sampled((2, 5, calls), (5, 8, FIT))})
    finding = one(found(tmp_path / "r", **tables), "python-overhead")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert finding.line == 15


def test_a_layer_that_goes_through_its_rows_one_by_one_is_python(tmp_path: Path) -> None:
    """Half of the steps in its own frames; and three of four operators of the way back, which is the other half."""
    calls = [*FIT, ("call", "train.py", 15)]
    back = [*FIT, ("backward", "torch/_tensor.py", 9), ("_engine_run_backward", "torch/autograd/graph.py", 7)]
    row = {"op": "aten::div", "category": "elementwise", "layer": "rows", "direction": "forward", "ms": 0.01}
    rows = [*[row] * 400, *[{**row, "direction": "backward"}] * 300]
    others = [{**row, "layer": "dense_1", "direction": "backward"}] * 100
    window = runs.window([{**KERNELS[0], "ms": 8}, *rows, *others])
    finding = one(
        found(tmp_path / "r", **quiet(**{**window, **sampled((2, 5, calls), (5, 8, back))})), "python-overhead"
    )

    assert finding.at_stake_ns == pytest.approx(3 * S + 0.75 * 3 * S, rel=0.01)
    assert finding.basis == "estimated"


def test_a_long_script_outside_keras_is_python(tmp_path: Path) -> None:
    """Loops over pixels before fit."""
    tables = quiet(
        phases=parts(import_=1, script=3, fit_steps=4, teardown=2), steps=runs.steps(200, start_s=4),
        phase_intervals=runs.intervals(("import", 0, 1), ("script", 1, 4), ("fit.steps", 4, 8), ("teardown", 8, 10)),
        **sampled((1, 4, [("<module>", "train.py", 5), ("prepare", "train.py", 3)])),
    )  # fmt: skip
    finding = one(found(tmp_path / "r", **tables), "python-overhead")

    assert (finding.at_stake_ns, finding.line) == (3 * S, 3)


def test_tiny_batches_are_dispatch_bound(tmp_path: Path) -> None:
    """2 samples a step, and kernels in a tenth of it."""
    spans = [runs.fit_span(batch_size=2)]
    tables = quiet(spans=spans, steps=runs.steps(300, samples=2), **runs.window(SMALL))
    finding = one(found(tmp_path / "r", tensorflow(), **tables), "dispatch-bound")

    assert finding.at_stake_ns == pytest.approx(5.4 * S * (1 - 2 / 128), rel=0.01)


def test_saves_between_small_steps_are_no_part_of_starting_them(tmp_path: Path) -> None:
    """Nine tenths of 4 s of steps, of which larger batches save half; 2 s of callbacks save the model."""
    tables = {
        **in_callbacks(("save", "keras/src/saving/saving_api.py", 5)), **runs.window(SMALL),
        "steps": runs.steps(200, samples=128), "spans": [runs.fit_span(), runs.span("save", 6, 7), runs.span("save", 7, 8)],
    }  # fmt: skip

    assert one(found(tmp_path / "r", tensorflow(), **tables), "dispatch-bound").at_stake_ns == pytest.approx(
        1_800 * MS, rel=0.01
    )


def test_a_graph_that_takes_longer_than_its_training_is_named(tmp_path: Path) -> None:
    """4 s of compilation for 2 s of steps."""
    tables = quiet(
        phases=parts(fit_steps=2, fit_graph_compile=4, teardown=2), steps=runs.steps(100, start_s=6),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.graph_compile", 2, 6), ("fit.steps", 6, 8), ("teardown", 8, 10)),
    )  # fmt: skip
    assert one(found(tmp_path / "r", **tables), "graph-compile-dominates").at_stake_ns == 4 * S


def test_compiling_again_is_not_also_a_graph_that_takes_long(tmp_path: Path) -> None:
    """Four step functions of 1 s each: three of them are a cause of their own, and one second is what a graph costs."""
    steps = runs.steps(100, start_s=6)
    firsts = [{**steps[0], "start_ns": (2 + n) * S, "dur_ns": S, "first": True, "compiled": True} for n in range(4)]
    tables = quiet(
        phases=parts(fit_steps=2, fit_graph_compile=4, teardown=2), steps=[*firsts, *steps],
        **runs.window(KERNELS, begin_s=6.5),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.graph_compile", 2, 6), ("fit.steps", 6, 8), ("teardown", 8, 10)),
    )  # fmt: skip
    diagnosis = found(tmp_path / "r", **tables)

    assert slugs(diagnosis) == ["retracing"]
    assert one(diagnosis, "retracing").at_stake_ns == 3 * S


def test_imports_beyond_keras_and_its_engine_are_named(tmp_path: Path) -> None:
    """Pandas for 1 s; keras itself, and what it imports, is needed."""
    imports = [
        runs.span("import", 0, 1, name="keras", span_id=3), runs.span("import", 0.2, 0.6, name="sympy", span_id=4, parent_id=3),
        runs.span("import", 1, 2, name="pandas", span_id=5, line=2),
    ]  # fmt: skip
    finding = one(found(tmp_path / "r", **quiet(spans=[runs.fit_span(), *imports])), "import-heavy")

    assert (finding.at_stake_ns, finding.line) == (S, 2)
    assert finding.claim.startswith("Importing pandas takes 1.00 s")


def imported(seconds: float, pages: int) -> Tables:
    """A run whose import takes so long, with so many pages read from disk."""
    rows = cpu((0.5, {"faults_major": pages}), (7.5, {"faults_major": pages}))
    return quiet(
        phases=parts(import_=seconds, fit_steps=8 - seconds, teardown=2), **rows,
        spans=[runs.fit_span(), runs.span("import", 0, seconds, name="torch", span_id=3)],
    )  # fmt: skip


@pytest.mark.parametrize(("pages", "named"), [(200, False), (20, True)])
def test_an_import_that_had_to_read_from_disk_is_no_cause(tmp_path: Path, pages: int, named: bool) -> None:
    """Imports of 4 s and of 2: where one read 200 pages from disk and the other 20, a second run would be as fast."""
    told = runs.manifest(process={**runs.manifest()["process"], "wall_ns": 12 * S})
    slow = {**imported(4, pages), "phases": parts(import_=4, fit_steps=6, teardown=2)}
    sides = (
        Side("a", (runs.trained(tmp_path / "a", told, **slow),)),
        Side("b", (runs.trained(tmp_path / "b", **imported(2, 20)),)),
    )
    diagnosis = diagnose.diagnose_gap(compare.compare(*sides))

    assert ("import-heavy" in slugs(diagnosis)) == named
    assert any(one.slug == "import-heavy" and "read from disk" in one.because for one in diagnosis.abstained) != named


@pytest.mark.parametrize(("pages", "told"), [(200, ["200 and 20"]), (20, [])])
def test_a_comparison_says_that_files_of_one_run_came_from_disk(tmp_path: Path, pages: int, told: list[str]) -> None:
    """Beside the figures, because no rule says it."""
    one, two = runs.trained(tmp_path / "a", **imported(4, pages)), runs.trained(tmp_path / "b", **imported(2, 20))
    found = [text for text in parity.check(one, two).differences if "read from disk" in text]

    assert [re.findall(r"\d+ and \d+", text)[0] for text in found] == told


def test_dlprofs_own_share_is_named(tmp_path: Path) -> None:
    """A profiler that takes a tenth of the run says so."""
    tables = quiet(phases=parts(dlprof=1, fit_steps=6, teardown=1))

    assert one(found(tmp_path / "r", **tables), "profiler-overhead").at_stake_ns == S


GPU = [{**KERNELS[0], "kind": "kernel", "device": 0, "ms": 8}]


def test_copies_are_named_on_a_gpu(tmp_path: Path) -> None:
    """6 of each 20 ms."""
    copies = {"op": "Memcpy HtoD", "category": "transfer", "kind": "transfer", "device": 0, "ms": 6}
    finding = one(found(tmp_path / "r", **quiet(**runs.window([*GPU, copies]))), "transfer-bound")

    assert finding.at_stake_ns == pytest.approx(1.8 * S, rel=0.01)


def test_gaps_that_the_host_left_are_named_on_a_gpu(tmp_path: Path) -> None:
    """12 of each 20 ms, for want of a launch."""
    gaps = [{"device": 0, "start_ns": 3 * S + n * 20 * MS + 8 * MS, "dur_ns": 12 * MS, "host_ns": 12 * MS, "launch_ns": 0,
             "wait_ns": 0, "kernel": "mm", "blamed": "aten::item", "window": 0} for n in range(9)]  # fmt: skip
    finding = one(found(tmp_path / "r", **quiet(**runs.window(GPU), gpu_gaps=gaps)), "gpu-idle")

    assert "aten::item" in finding.claim


def test_a_throttled_gpu_is_named(tmp_path: Path) -> None:
    """Half of the samples at half of the clock, for its power cap."""
    gpu = [{"time_ns": n * S, "gpu": 0, "sm_clock_mhz": 2000.0 if n % 2 else 1000.0, "throttle_reasons": 0 if n % 2 else 4}
           for n in range(10)]  # fmt: skip
    finding = one(found(tmp_path / "r", **quiet(**runs.window(GPU), gpu=gpu)), "gpu-throttled")

    assert finding.at_stake_ns == pytest.approx(0.25 * 2.4 * S, rel=0.01)


def gap(a: Tables, b: Tables, tmp_path: Path, told: dict[str, Any] | None = None) -> Diagnosis:
    """Why the first is slower than the second."""
    sides = [
        Side(name, (runs.trained(tmp_path / name, told if name == "a" else None, **t),))
        for name, t in (("a", a), ("b", b))
    ]
    return diagnose.diagnose_gap(compare.compare(*sides))


def longer(seconds: float, **changes: Any) -> tuple[Tables, dict[str, Any]]:
    """Tables of a training whose steps take so much longer, and its manifest."""
    wall = int((10 + seconds) * S)
    tables = quiet(
        phases=parts(fit_steps=6 + seconds, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 8 + seconds), ("teardown", 8 + seconds, 10 + seconds)),
        steps=runs.steps(300, dur_ms=20 + seconds * 1000 / 300), **changes,
    )  # fmt: skip
    return tables, runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": wall})


def test_a_slower_kernel_is_named_with_layer_and_ratio(tmp_path: Path) -> None:
    """36 ms against 16 of each step."""
    slow, told = longer(6, **runs.window([{**KERNELS[0], "ms": 36}], dur_ms=40))
    diagnosis = gap(slow, quiet(), tmp_path, told)

    assert slugs(diagnosis)[0] == "slow-kernel"
    assert one(diagnosis, "slow-kernel").at_stake_ns == pytest.approx(6 * S, rel=0.02)
    claim = diagnosis.findings[0].claim
    assert claim.startswith("aten::mm and what goes with it in dense takes 10.8 s, 2.2 x as long as b's (aten::mm)")


def test_equal_runs_have_no_cause(tmp_path: Path) -> None:
    """No story where there is no gap."""
    assert gap(quiet(), quiet(), tmp_path).findings == ()


def test_the_faster_run_has_no_cause_either(tmp_path: Path) -> None:
    """Asked the wrong way round."""
    slow, told = longer(6)
    sides = [
        Side("a", (runs.trained(tmp_path / "a", **quiet()),)),
        Side("b", (runs.trained(tmp_path / "b", told, **slow),)),
    ]

    assert diagnose.diagnose_gap(compare.compare(*sides)).findings == ()


def test_no_time_is_counted_twice(tmp_path: Path) -> None:
    """All at once: a debug switch, 64-bit floats, one thread, a slow callback."""
    facts = {
        "floatx": "float64",
        "weights": {"count": 10, "dtype": "float64"},
        "flags": {"torch.autograd.set_detect_anomaly": True},
    }
    tables = {"spans": threads(1, **facts), **runs.window(KERNELS)}
    diagnosis = found(tmp_path / "r", **tables, **cpu((2.5, BUSY[0]), (7.5, BUSY[1])))

    assert len(diagnosis.findings) >= 3
    assert diagnosis.explained_ns <= 6 * S


def test_findings_are_ranked_by_time_at_stake(tmp_path: Path) -> None:
    """The dearest first."""
    facts = {"flags": {"torch.autograd.set_detect_anomaly": True}}
    diagnosis = found(tmp_path / "r", spans=[runs.fit_span(training=facts)], **runs.window(KERNELS))

    times = [finding.at_stake_ns for finding in diagnosis.findings]
    assert len(times) >= 2
    assert times == sorted(times, reverse=True)


def test_rules_without_their_signal_say_which(tmp_path: Path) -> None:
    """A run without stacks, windows and samples of the machine."""
    told = {rule.slug: rule.because for rule in found(tmp_path / "r").abstained}

    assert told["gpu-idle"] == "no kernel ran on a GPU"
    assert told["slow-kernel"] == "it takes a second run to say that a kernel is slow: dlprof diagnose A B"
    assert told["cpu-contention"] == "the scheduling of threads was sampled less than twice during the training"
    assert told["layout-transpose"] == "no kernel of the steps was traced"


def test_a_rule_with_a_bug_does_not_cost_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It abstains, and says so."""

    def broken(_case: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(RULES["input-bound"], "look", broken)
    diagnosis = found(tmp_path / "r", **runs.window(KERNELS))

    assert slugs(diagnosis) == ["slow-callback"]
    assert "a bug in its rule: ZeroDivisionError: oops" in [rule.because for rule in diagnosis.abstained]


def test_evidence_is_rows_and_the_query_that_gives_them(tmp_path: Path) -> None:
    """A user can ask for them again."""
    saves = [runs.span("save", 7 + n * 0.3, 7.3 + n * 0.3, name="save") for n in range(3)]
    finding = one(found(tmp_path / "r", spans=[runs.fit_span(), *saves]), "checkpoint-heavy")

    (evidence,) = finding.evidence
    assert evidence.sql.startswith("SELECT kind, name, file, line, count(*) AS count")
    assert evidence.rows[0]["count"] == 3
    assert evidence.rows[0]["total_ns"] == 900 * MS


def test_the_slugs_are_those_that_are_promised() -> None:
    """Names are stable: scripts and dashboards know them."""
    assert set(RULES) == {
        "input-bound", "slow-callback", "host-sync", "retracing", "eager-execution", "jit-off",
        "graph-compile-dominates", "python-overhead", "dispatch-bound", "slow-kernel", "layout-transpose",
        "double-precision", "threads-underused", "threads-oversubscribed", "cpu-contention", "cpu-throttled",
        "memory-pressure", "gc-pressure", "io-bound", "checkpoint-heavy", "validation-heavy", "import-heavy",
        "debug-mode", "transfer-bound", "gpu-idle", "gpu-throttled", "profiler-overhead", "iterator-restart",
    }  # fmt: skip


def test_json_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    """Ranked findings, and who abstained."""
    content = plain(diagnosis_json.as_json(found(tmp_path / "r", **runs.window(KERNELS)), ["r"], None))

    assert content["schema"] == "dlprof.diagnose/1"
    finding = content["findings"][0]
    assert {"slug", "claim", "at_stake_ns", "file", "line", "evidence", "next_step", "state", "saving_ns"} <= set(
        finding
    )
    assert (finding["slug"], finding["state"], finding["saving_ns"]) == ("slow-callback", "untested", None)
    assert {"slug", "because"} == set(content["abstained"][0])
