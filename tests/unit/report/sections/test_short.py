"""Each part of a run in a line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dlprof.analysis.device_time import DeviceTime, SpanOf
from dlprof.analysis.import_lines import ImportLine
from dlprof.analysis.steps import StepSummary
from dlprof.analysis.utilisation import GpuUse
from dlprof.report.model import (
    CategoryKernels,
    Cause,
    CoreLoad,
    EpochTime,
    HealthLine,
    KernelSums,
    MainLoop,
    MeasuredGpus,
    MemoryLimit,
    Overhead,
    PhaseTime,
    ProbeCost,
    TreeTime,
    UnmeasuredGpus,
)
from dlprof.report.sections import short
from dlprof.schema.vocabulary import Loop, StepTime
from tests.unit.report.reports import process_use, report
from tests.unit.runs import MS, S


def main_loop(**changes: Any) -> MainLoop:
    """250 training steps of 20 ms."""
    loop = StepSummary(Loop.TRAIN, 250, 80 * MS, 20 * MS, 25 * MS, 6400.0, 20 * MS, 0, 0)
    stood = changes.pop("collectives_ns", None)
    fixed = {"asynchronous_dispatch": False, "input_inside_step": False, "collectives_ns": stood}
    return MainLoop(**{**vars(loop), **changes}, **fixed)


def gpu_use(number: int, busy: float | None) -> GpuUse:
    """A GPU of which only its use may be known."""
    figures: dict[str, Any] = dict.fromkeys(GpuUse.__dataclass_fields__)
    return GpuUse(**{**figures, "gpu": number, "utilisation_mean_pct": busy})


def test_phases_of_one_percent_and_more_are_told_with_their_parts() -> None:
    """The longest first; what is in no phase is one, too."""
    phases = (
        PhaseTime("import", None, S, 1),
        PhaseTime("fit", None, 6 * S, 1),
        PhaseTime("fit.input", "fit", 2 * S, None),
        PhaseTime("fit.steps", "fit", 4 * S - 10 * MS, None),
        PhaseTime("fit.build", "fit", 10 * MS, None),
        PhaseTime("teardown", None, 10 * MS, 1),
    )

    assert short.phases(report(phases=phases, unattributed_ns=2990 * MS)) == (
        "fit 6.00 s (60 %: steps 40, input 20), unattributed 2.99 s (30 %), import 1.00 s (10 %)"
    )


def test_a_run_without_phases_has_no_line_of_them() -> None:
    """Nothing is claimed."""
    assert short.phases(report()) == ""


def test_steps_are_told_with_their_rate() -> None:
    """Those of the loop that counts most."""
    assert short.steps(report(steps=main_loop(input_median_ns=2 * MS))) == (
        "250 train steps: median 20.0 ms with the wait for input, p95 25.0 ms, first 80.0 ms; "
        "6,400 samples/s on average"
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"input_median_ns": None}, "250 train steps: median 20.0 ms, p95"),
        ({"input_median_ns": 0}, "250 train steps: median 20.0 ms, p95"),
        ({"count": 1}, "1 train step: 20.0 ms, p95"),
        (
            {"input_median_ns": None, "collectives_ns": 12 * MS},
            "250 train steps: median 20.0 ms, 12.0 ms of it standing still in collectives, p95",
        ),
        ({"input_median_ns": None, "collectives_ns": MS // 5}, "250 train steps: median 20.0 ms, p95"),
        ({"how": StepTime.EPOCHS}, "250 train steps: 20.0 ms, p95"),
    ],
)
def test_a_step_is_a_median_with_its_wait_only_where_that_is_so(changes: dict[str, Any], told: str) -> None:
    """The wait was seen, there are several steps, and each was measured."""
    assert short.steps(report(steps=main_loop(**changes))).startswith(told)


def test_a_wait_for_the_device_is_not_taken_for_one_for_data() -> None:
    """The phase is called `fit.wait` everywhere else."""
    phases = (PhaseTime("fit", None, 6 * S, 1), PhaseTime("fit.wait", "fit", 2 * S, None))

    assert short.phases(report(phases=phases, unattributed_ns=0)) == "fit 6.00 s (60 %: wait for results 20)"


def test_first_steps_only_have_no_time_of_a_usual_one() -> None:
    """Nor a rate."""
    loop = main_loop(median_ns=None, p95_ns=None, samples_per_s=None)

    assert short.steps(report(steps=loop)) == "250 train steps: the time of a usual one is not known, first 80.0 ms"


def test_a_step_says_how_its_time_is_known_where_it_was_not_measured() -> None:
    """On engines that return before the work is done."""
    assert short.steps(report(steps=main_loop(how=StepTime.EPOCHS))).endswith("6,400 samples/s (from epoch times)")


def test_a_foreign_trace_of_one_phase_has_no_line_of_phases() -> None:
    """It is the trace."""
    assert short.phases(report(state="imported", phases=(PhaseTime("trace", None, 10 * S, 1),))) == ""


def test_steps_of_a_foreign_trace_are_no_fit() -> None:
    """It shows the steps of a training, and what was beside them; spelled for people."""
    found = (PhaseTime("fit", None, 9 * S, 1), PhaseTime("fit.steps", "fit", 9 * S, 1))
    beside = PhaseTime("outside_steps", None, 1 * S, 1)

    told = short.phases(report(state="imported", wall_ns=10 * S, phases=(*found, beside), unattributed_ns=0))

    assert told == "training steps 9.00 s (90 %), outside steps 1.00 s (10 %)"


def test_a_single_step_of_no_known_kind_is_one_step() -> None:
    """Its loop has no name then."""
    told = short.steps(report(steps=main_loop(loop=Loop.UNKNOWN, count=1)))

    assert told.startswith("1 step: ")


def test_a_traced_run_without_steps_says_why_and_an_imported_one_nothing() -> None:
    """Foreign traces may know no steps."""
    assert short.steps(report()).startswith("none: no training was seen")
    assert short.steps(report(state="imported")) == ""


def test_all_cores_are_one_figure() -> None:
    """And who used them, as far as known."""
    cores = (CoreLoad(0, 50.0, ()), CoreLoad(1, 100.0, ()), CoreLoad(2, None, ()))
    use = process_use(tree_cpu_pct=120.0, others_cpu_pct=30.0)

    assert short.cores(report(cores=cores, process=use)) == "2, 75 % busy: this program 1.20, others 0.30 cores"


def test_cores_that_were_not_measured_say_why() -> None:
    """Of an imported run nothing is said."""
    probe = ProbeCost("cores", "failed", "the sampler was killed (signal 9)", None, None)

    assert short.cores(report(probes=(probe,))) == "not measured, because the sampler was killed"
    assert short.cores(report(state="imported")) == ""


def test_memory_is_its_peak_and_what_was_left() -> None:
    """Where both were measured."""
    use = process_use(peak_rss_bytes=812_000_000, available_min_bytes=2_130_000_000, processes=3)

    assert short.memory(report(process=use)) == (
        "peak 812 MB in 3 processes (pages that they share count in each); at least 2.13 GB available"
    )
    assert short.memory(report()) == ""


def test_memory_that_grew_is_said_where_memory_is_told() -> None:
    """It claims no time, and may stand behind all causes that are shown."""
    claim = (
        "Memory of the process grew by 145 kB with each step (95 %: 144 kB to 147 kB): 81 MB over 566 steps were not"
    )
    grown = Cause("memory-growth", "Memory grows", claim, 0, 0.0, "measured", "train.py", 12, "Look.")
    use = process_use(peak_rss_bytes=812_000_000)

    assert short.memory(report(process=use, findings=(grown,))) == (
        "peak 812 MB in 1 process; grew by 145 kB with each step at train.py:12, see memory-growth"
    )


def test_what_is_left_of_memory_is_that_of_the_nearest_limit() -> None:
    """Not what the machine had, which it could not have used."""
    limit = MemoryLimit("its address space", 3_070_000_000, 76_000_000)
    use = process_use(peak_rss_bytes=812_000_000, available_min_bytes=23_000_000_000, memory_limit=limit)

    assert short.memory(report(process=use)) == "peak 812 MB in 1 process; 76 MB left of its address space, 3.07 GB"


def test_gpus_that_were_not_measured_say_why() -> None:
    """Of an imported run nothing is said."""
    gpu = UnmeasuredGpus(False, "no NVIDIA driver is installed (libnvidia-ml.so.1)")

    assert short.gpu(report(gpu=gpu)) == "not measured, because no NVIDIA driver is installed"
    assert short.gpu(report(gpu=gpu, state="imported")) == ""


@pytest.mark.parametrize(
    ("busy", "text"),
    [
        ([61.0], "GPU 0: kernels ran in 61 % of the time"),
        ([None], "GPU 0: use not measured"),
        ([20.0, 61.0, None], "3 GPUs: kernels ran in 20 to 61 % of the time"),
        ([None, None], "2 GPUs: use not measured"),
    ],
)
def test_gpus_are_one_line(busy: list[float | None], text: str) -> None:
    """However many there are."""
    gpus = tuple(gpu_use(number, value) for number, value in enumerate(busy))

    assert short.gpu(report(gpu=MeasuredGpus(True, gpus))) == text


def test_kernels_are_those_of_a_gpu_and_never_one_sum_with_the_cpus() -> None:
    """Operators on the CPU launch them: their time is the same time."""
    rows = (
        CategoryKernels("matmul", "operator", "cpu", 9 * S),
        CategoryKernels("conv", "kernel", "gpu:0", 3 * S),
        CategoryKernels(None, "kernel", "gpu:0", S),
        CategoryKernels("transfer", "transfer", "gpu:0", 8 * S),
    )
    sums = KernelSums((), 21 * S, 0, 0, rows, ())

    assert short.kernels(report(kernels=sums)) == "4.00 s of kernels on gpu:0: conv 75.0 %, no category 25.0 %"


@pytest.mark.parametrize(
    ("in_tree", "more"),
    [(8 * S, "; beside them exchanges, told by ranges: 7.00 s"), (S, ""), (0, "")],
    ids=["ranges", "operators", "none"],
)
def test_exchanges_that_only_ranges_tell_stand_beside_the_operators(in_tree: int, more: str) -> None:
    """The phases have them: 82 % here and 6 % there was not to be understood."""
    rows = (
        CategoryKernels("matmul", "operator", "cpu", 3 * S),
        CategoryKernels("collective", "operator", "cpu", S),
    )
    tree = (TreeTime("fit/steps/kernels/collective", in_tree), TreeTime("fit/steps/idle", S))

    told = short.kernels(report(kernels=KernelSums((), 4 * S, 0, 0, rows, ()), tree=tree))

    assert told == f"4.00 s of operators on cpu: matmul 75.0 %, collective 25.0 %{more}"


def test_a_device_of_one_number_in_several_processes_says_so() -> None:
    """The sum is of all of them."""
    rows = (CategoryKernels("conv", "kernel", "gpu:0", 3 * S),)
    used = DeviceTime("gpu:0", 0, "h", 0, S, S, 0, S, 0, 0, 0, 0, 1, S, SpanOf.EVENTS, ())
    devices = (replace(used, pid=7), replace(used, pid=8))

    told = short.kernels(report(kernels=KernelSums((), 3 * S, 0, 0, rows, ()), devices=devices))

    assert told == "3.00 s of kernels on gpu:0 of 2 processes: conv 100.0 %"


def test_warnings_are_counted_and_the_first_is_told() -> None:
    """What is only information is not counted."""
    health = tuple(
        HealthLine(slug, severity, message, None)
        for slug, severity, message in (
            ("a", "info", "processes were left"),
            ("b", "warning", "the sampler was killed"),
            ("c", "error", "a file is damaged"),
        )
    )

    assert short.warnings(report(health=health)) == "the sampler was killed (and 1 more: report --full)"
    assert short.warnings(report(health=health[:1])) == ""


def test_a_loss_that_diverged_is_told_first() -> None:
    """With its first epoch, as reports count them."""
    epochs = tuple(EpochTime(1, epoch, S, 5, {"loss": 1.0}, {"loss": "NaN"} if epoch else {}) for epoch in (0, 1, 2))

    assert short.warnings(report(epochs=epochs)) == "loss is NaN from epoch 2 on"


def test_what_dlprof_took_is_told_where_it_is_over_the_budget() -> None:
    """Within the budget it is in the full report alone; of a script that does next to nothing it is no news."""
    over, within = Overhead(300 * MS, 0.03, 0.01), Overhead(50 * MS, 0.005, 0.01)
    probe = ProbeCost("phases", "on", None, None, None, tax_ns=300 * MS)

    assert short.overhead(report(overhead=over, probes=(probe,))) == (
        "dlprof took 3.00 % of the run, over the budget of 1 %: in the process 300 ms"
    )
    assert short.overhead(report(overhead=within)) == ""
    started = PhaseTime("dlprof", None, 200 * MS, 3)
    assert short.overhead(report(overhead=over, probes=(probe,), phases=(started,))).endswith(
        "; most of it once, a longer run has hardly more"
    )
    own = PhaseTime("dlprof", None, 10 * S, 1)
    assert short.overhead(report(overhead=over, phases=(own,), unattributed_ns=0)) == ""


def test_the_line_that_most_of_the_imports_are_in_is_told_beside_them() -> None:
    """Where it is 5 % of the run and more."""
    phases = (PhaseTime("import", None, 2 * S, 3),)

    found = short.phases(report(phases=phases, unattributed_ns=0, import_line=ImportLine("train.py", 3, 1600 * MS)))
    assert found == "import 2.00 s (20 %, of which 1.60 s at train.py:3)"
    found = short.phases(report(phases=phases, unattributed_ns=0, import_line=ImportLine("train.py", 3, 400 * MS)))
    assert found == "import 2.00 s (20 %)"
