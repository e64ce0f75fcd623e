"""The report of a run, made from its tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dlprof.analysis.findings.diagnose import NO_TIME
from dlprof.analysis.findings.finding import Abstention, Diagnosis, Finding
from dlprof.analysis.findings.title import Title
from dlprof.analysis.lines import HotLine
from dlprof.analysis.steps import StepSummary
from dlprof.analysis.utilisation import GpuUse
from dlprof.report import summary
from dlprof.report.json_text import plain
from dlprof.report.model import (
    CategoryKernels,
    CoreLoad,
    EpochTime,
    LayerKernels,
    MainLoop,
    MeasuredGpus,
    PartTime,
    PhaseStack,
    PhaseTime,
    ProbeCost,
    Report,
    Source,
    StackFrame,
    UnmeasuredGpus,
)
from dlprof.schema.manifest import PhaseThread
from dlprof.schema.vocabulary import Basis, Loop
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import MS, S, losses, make, manifest, trained, window

LOOP = StepSummary(Loop.TRAIN, 250, 20 * MS, 20 * MS, 20 * MS, 6400.0, 20 * MS, 0, 0)


def made(path: Path, told: dict[str, Any] | None = None, **tables: list[dict[str, Any]]) -> Report:
    """The report of a trained run with some other tables."""
    return summary.summarise(trained(path / "r", told, **tables))


def test_phases_and_the_rest_sum_to_the_wall_time(tmp_path: Path) -> None:
    """4 s of 10 s were seen: 6 s are unattributed, and said to be."""
    phases = [("startup", None, 1), ("fit", None, 3), ("fit.steps", "fit", 3)]
    rows = [{"phase": name, "parent": parent, "dur_ns": s * S, "count": 1} for name, parent, s in phases]

    content = made(tmp_path, phases=rows)

    assert content.phases[2] == PhaseTime("fit.steps", "fit", 3 * S, 1)
    assert content.unattributed_ns == 6 * S


def test_without_a_wall_time_nothing_is_unattributed(tmp_path: Path) -> None:
    """It is not known, and not 0."""
    content = made(tmp_path, manifest(process={"pid": 42}))

    assert (content.wall_ns, content.unattributed_ns) == (None, None)


def test_the_main_loop_says_how_its_steps_return(tmp_path: Path) -> None:
    """As the backend does."""
    backend = {"name": "jax", "source": "managed", "asynchronous_dispatch": True, "input_inside_step": False}
    content = made(tmp_path, manifest(backend=backend))

    assert content.steps == MainLoop(
        **vars(content.step_summaries[0]), asynchronous_dispatch=True, input_inside_step=False
    )


def test_a_loop_whose_steps_are_only_dispatched_has_no_time_of_a_step(tmp_path: Path) -> None:
    """No value was read, and no epoch was seen: not known, and why."""
    backend = {"name": "jax", "source": "managed", "asynchronous_dispatch": True, "input_inside_step": False}
    (loop,) = made(tmp_path, manifest(backend=backend)).step_summaries

    assert (loop.median_ns, loop.p95_ns, loop.samples_per_s, loop.how) == (None, None, None, None)
    assert (loop.unknown or "").startswith("Its steps return before the device has done them")
    assert loop.call_median_ns == 20 * MS


def test_a_run_without_steps_has_no_main_loop(tmp_path: Path) -> None:
    """Nor any other."""
    content = made(tmp_path, steps=[])

    assert (content.steps, content.step_summaries) == (None, ())


def test_an_epoch_has_the_metrics_of_its_end(tmp_path: Path) -> None:
    """Those of steps are not among them."""
    epochs = [{"loop_id": 1, "epoch": n, "start_ns": 2 * S, "dur_ns": 3 * S, "steps": 125} for n in (0, 1)]
    of_step = {"loop_id": 1, "epoch": 1, "step": 3, "name": "loss", "value": 9.0, "time_ns": 0}

    content = made(tmp_path, epochs=epochs, metrics=[*losses(1.0, 0.5), of_step])

    assert content.epochs[1] == EpochTime(1, 1, 3 * S, 125, {"loss": 0.5})


def test_kernels_are_summed_by_layer_category_and_direction(tmp_path: Path) -> None:
    """Ten steps of 5 ms and of 15 ms."""
    kernels = window(
        [
            {"op": "MatMul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 5},
            {"op": "Relu", "category": "elementwise", "ms": 15},
        ]
    )

    sums = made(tmp_path, **kernels).kernels

    assert sums is not None
    assert sums.rows == (
        LayerKernels(None, None, "Relu", "elementwise", "operator", "cpu", 10, 150 * MS, 0.75),
        LayerKernels("dense", "forward", "MatMul", "matmul", "operator", "cpu", 10, 50 * MS, 0.25),
    )
    assert (sums.all_ns, sums.unattributed_ns) == (200 * MS, 150 * MS)
    assert sums.by_category[0] == CategoryKernels("elementwise", "operator", "cpu", 150 * MS)
    assert [row.direction for row in sums.by_direction] == [None, "forward"]


def test_a_run_without_kernels_has_no_sums_of_them(tmp_path: Path) -> None:
    """And no parts of a step."""
    content = made(tmp_path)

    assert (content.kernels, content.step_split) == (None, None)


def test_the_parts_of_a_step_are_those_of_the_window_and_of_a_plain_step(tmp_path: Path) -> None:
    """15 ms of 20 ms are kernels, in both."""
    kernels = window([{"op": "MatMul", "category": "matmul", "ms": 15}])

    split = made(tmp_path, **kernels).step_split

    assert split is not None
    assert (split.loop, split.engine, split.steps, split.window_step_ns) == ("train", "torch", 10, 20 * MS)
    assert split.parts[0] == PartTime("kernels", 15 * MS, 15 * MS)
    assert sum(part.plain_ns or 0 for part in split.parts) == split.plain_step_ns


def test_the_hottest_lines_are_as_many_as_asked_for(tmp_path: Path) -> None:
    """Those with most time of their own."""
    lines = [
        {"file": "a.py", "function": "f", "first_line": 1, "line": n, "hits": 1, "time_ns": n * S, "source": "x"}
        for n in (1, 2, 3)
    ]
    content = summary.summarise(trained(tmp_path / "r", lines=lines), top=2)

    assert content.lines == (
        HotLine("a.py", "f", 1, 3, 1, 3 * S, 3 * S, "x"),
        HotLine("a.py", "f", 1, 2, 1, 2 * S, 2 * S, "x"),
    )


def test_a_stack_has_its_innermost_frame_first(tmp_path: Path) -> None:
    """And the share of its phase."""
    frames = [{"stack_id": 0, "depth": d, "function": f, "file": "a.py", "line": 1} for d, f in enumerate("ab")]
    stacks = [{"thread_id": 1, "thread": "MainThread", "start_ns": 3 * S, "dur_ns": S, "stack_id": 0}]

    content = made(tmp_path, frames=frames, stacks=stacks)

    inner, outer = StackFrame("b", "a.py", 1), StackFrame("a", "a.py", 1)
    assert content.stacks == (PhaseStack("fit.steps", S, 1.0, (inner, outer)),)


def test_a_core_has_sixty_parts_of_the_run(tmp_path: Path) -> None:
    """Half busy all the time."""
    cores = [{"time_ns": n * S, "interval_ns": S, "core": 0, "busy_pct": 50.0} for n in range(1, 11)]

    assert made(tmp_path, cores=cores).cores == (CoreLoad(0, 50.0, (50.0,) * 60),)


def test_gpus_have_their_names(tmp_path: Path) -> None:
    """And None for what was not measured."""
    told = manifest(gpus=[{"gpu": 0, "name": "T4"}])
    content = made(tmp_path, told, gpu=[{"time_ns": S, "gpu": 0, "power_w": 70.5}])

    assert isinstance(content.gpu, MeasuredGpus)
    assert content.gpu.gpus[0] == GpuUse(0, "T4", None, None, None, None, 70.5, None, None, None, None, None, None)


@pytest.mark.parametrize(("reason", "told"), [("no driver", "no driver"), (None, "no sample was taken")])
def test_gpus_that_were_not_measured_say_why(tmp_path: Path, reason: str | None, told: str) -> None:
    """By the reason of the probe."""
    assert made(tmp_path, probes=[{"name": "gpu", "state": "off", "reason": reason}]).gpu == UnmeasuredGpus(False, told)


def test_probes_are_found_by_their_names(tmp_path: Path) -> None:
    """None where the run knows no such probe."""
    content = made(tmp_path, probes=[{"name": "cores", "state": "on", "cost_ns": 5, "cost_source": "x"}])

    assert content.probe("cores") == ProbeCost("cores", "on", None, 5, "x")
    assert content.probe("gpu") is None


def test_a_probe_says_what_it_measured_less_of(tmp_path: Path) -> None:
    """In JSON with the words `from` and `to`."""
    thinned = {"thinned": "steps", "thinned_from_value": 10.0, "thinned_to_value": 3.0, "thinned_why": "they cost 4 %"}
    content = made(tmp_path, probes=[{"name": "kernels", "state": "on", **thinned}])

    told = summary.as_builtins(content)["probes"][0]["thinned"]
    assert told == {"what": "steps", "from": 10.0, "to": 3.0, "why": "they cost 4 %"}


def test_a_run_of_foreign_traces_has_sources_and_no_script(tmp_path: Path) -> None:
    """It is said to be imported."""
    sources = [{"file": "a.json", "format": "kineto", "events": 7, "shift_ns": 0, "facts": "{}"}]
    run = make(tmp_path / "r", manifest(state="imported", command={}), sources=sources)

    content = summary.summarise(run)

    assert (content.imported, content.script) == (True, None)
    assert content.sources == (Source("a.json", "kineto", 7, 0, "{}"),)


REPORT_KEYS = [
    "schema",
    "run",
    "script",
    "arguments",
    "state",
    "source",
    "backend",
    "keras_version",
    "engine",
    "versions",
    "python_version",
    "machine",
    "created",
    "wall_ns",
    "phases",
    "phase_threads",
    "unattributed_ns",
    "steps",
    "step_summaries",
    "loops",
    "epochs",
    "recompilations",
    "step_split",
    "kernels",
    "devices",
    "gpu_idle",
    "sources",
    "window_starts",
    "lines",
    "stacks",
    "cores",
    "process",
    "processes",
    "processes_left_out",
    "calls",
    "followed",
    "input_pipelines",
    "input_graphs",
    "gpu",
    "probes",
    "overhead",
    "health",
    "skipped",
    "clock",
    "exit",
    "verdict",
    "findings",
    "not_asked",
    "tree",
    "graph_breaks",
    "unrecorded",
    "lost_tables",
    "memory",
    "graph_compilations",
    "calls_left_out",
    "syncs",
    "syncs_unknown",
    "import_line",
]


def test_json_has_the_fields_of_the_contract_in_their_order(tmp_path: Path) -> None:
    """`dlprof.report/1`, see docs/json.md."""
    content = summary.as_builtins(made(tmp_path))

    assert list(content) == REPORT_KEYS
    assert content["schema"] == "dlprof.report/1"
    assert list(content["process"]) == [
        "pid", "exit_code", "signal", "wall_ns", "cpu_user_ns", "cpu_system_ns", "stopped_ns", "replaced_by",
        "went_on",
        "tree_cpu_pct", "others_cpu_pct", "dlprof_cpu_pct", "peak_rss_bytes", "threads", "processes", "available_min_bytes", "major_faults",
        "switches_involuntary", "memory_limit",
    ]  # fmt: skip
    assert list(content["steps"]) == [
        "loop", "count", "first_ns", "median_ns", "p95_ns", "samples_per_s", "call_median_ns", "input_median_ns",
        "compiled", "how", "unknown", "asynchronous_dispatch", "input_inside_step", "collectives_ns",
    ]  # fmt: skip
    assert list(content["step_summaries"][0]) == list(content["steps"])[:-3]
    assert list(content["loops"][0]) == ["name", "how", "file", "line", "epochs", "steps", "runs"]


def test_a_report_has_the_findings_of_the_diagnosis_it_is_given(tmp_path: Path) -> None:
    """With what they are called, and the sentence that they make."""
    run = trained(tmp_path / "r")
    finding = Finding(
        "input-bound", "It waits.", 5 * S, 0.5, None, Basis.MEASURED, "train.py", 7, (), "Prefetch.",
        title=Title("The training waited for its input", "waiting for the input"),
    )  # fmt: skip
    content = plain(summary.summarise(run, diagnosis=Diagnosis((finding,), (), 10 * S)))

    assert content["verdict"] == "50 % of the 10.0 s went to waiting for the input."
    assert content["findings"] == [
        {
            "slug": "input-bound", "title": "The training waited for its input", "claim": "It waits.",
            "at_stake_ns": 5 * S, "share": 0.5, "basis": "measured", "file": "train.py", "line": 7,
            "next_step": "Prefetch.", "confidence": 1.0, "is_question": False,
        }
    ]  # fmt: skip


def test_without_a_diagnosis_there_are_no_findings_to_tell(tmp_path: Path) -> None:
    """Not: none were found."""
    assert summary.summarise(trained(tmp_path / "r")).findings is None


def test_rules_that_there_was_no_time_for_are_named(tmp_path: Path) -> None:
    """Others that abstained lack what they need to know."""
    abstained = (Abstention("gpu-idle", "no kernel ran on a GPU"), Abstention("input-bound", NO_TIME))

    report = summary.summarise(trained(tmp_path / "r"), diagnosis=Diagnosis((), abstained, 10 * S))

    assert report.not_asked == ("input-bound",)


def test_a_metric_that_is_no_number_is_told_as_text(tmp_path: Path) -> None:
    """A loss that diverged."""
    epoch = {"thread_id": 1, "loop_id": 1, "epoch": 0, "start_ns": 0, "dur_ns": S, "steps": 5}
    metric = {"loop_id": 1, "epoch": 0, "step": None, "time_ns": S}
    values = [{**metric, "name": "loss", "value": math.nan}, {**metric, "name": "mae", "value": 0.5}]

    told = made(tmp_path, epochs=[epoch], metrics=values).epochs[0]

    assert told.not_finite == {"loss": "NaN"}


def test_cores_of_a_run_without_samples_are_none(tmp_path: Path) -> None:
    """Not measured."""
    run: Run = trained(tmp_path / "r")

    assert summary.cores(run) == ()


def test_other_threads_that_the_phases_are_of_are_told(tmp_path: Path) -> None:
    """In the manifest's order; their steps are in phases, and nothing is said of these."""
    turn = PhaseThread(thread="Thread-1 (work)", thread_id=7, start_ns=2 * S, end_ns=4 * S)
    fit = runs.span("fit", 2, 4, thread="Thread-1 (work)", thread_id=7)
    run = trained(tmp_path / "r", spans=[fit], steps=runs.steps(40, thread_id=7))
    run.manifest = structs.replace(run.manifest, phase_threads=(turn,))

    report = summary.summarise(run)

    assert [(one.thread, one.start_ns, one.end_ns) for one in report.phase_threads] == [
        ("Thread-1 (work)", 2 * S, 4 * S)
    ]
    assert [line.slug for line in report.health if line.slug == "trained-on-thread"] == []


def test_steps_of_another_thread_are_said_to_be_in_no_phase(tmp_path: Path) -> None:
    """Phases are of another thread."""
    fit = runs.span("fit", 2, 4, thread="Thread-1 (work)", thread_id=7)
    run = trained(tmp_path / "r", spans=[fit], steps=runs.steps(40, thread_id=7))

    told = [line for line in summary.summarise(run).health if line.slug == "trained-on-thread"]

    assert [(line.severity, line.count) for line in told] == [("warning", 40)]
    assert told[0].message.startswith("40 steps ran on the thread Thread-1 (work) beside the one that phases are of")
