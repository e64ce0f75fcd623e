"""The answer of runs of foreign traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.report import summary
from dlprof.store.run import Run
from tests.unit.foreign import Event, foreign, kernel, marked
from tests.unit.runs import MS, S, make, manifest, table


def verdict(run: Run) -> str:
    """The answer."""
    return summary.summarise(run).verdict


def test_a_gpu_that_waits_for_data(tmp_path: Path) -> None:
    """Shares are of the time from its first to its last kernel."""
    run = foreign(
        tmp_path / "r",
        marked("train_step 1", 0, 10),
        marked("train_step 2", 10, 10),
        kernel("gemm", 0, 2),
        Event("input", "next", 10, 6),
        kernel("gemm", 16, 4),
    )

    assert verdict(run) == (
        "The GPU was busy 30 % and idle 70 % of the 20.0 ms from first to last kernel; in most of the idle time (57 %) "
        "the host was in no operator and no call that the trace shows. A train step takes 10.0 ms, the mean of 2."
    )


def test_collectives_that_no_kernel_hides_are_named(tmp_path: Path) -> None:
    """What is hidden costs nothing."""
    run = foreign(tmp_path / "r", kernel("gemm", 0, 6), kernel("nccl", 4, 6, category="collective", lane="stream 20"))

    assert verdict(run) == (
        "The GPU was busy 100 % and idle 0 % of the 10.0 ms from first to last kernel; only collectives ran in 40 % of "
        "the time."
    )


def test_several_gpus_are_told_by_their_mean(tmp_path: Path) -> None:
    """With how far they are apart."""
    run = foreign(
        tmp_path / "r",
        *(kernel("gemm", at, 1, device=0) for at in (0, 9)),
        *(kernel("gemm", at, 3, device=1) for at in (0, 7)),
    )

    assert verdict(run).startswith(
        "2 GPUs (each busy 20 to 60 %) were busy 40 % and idle 60 % of the time from their first to their last kernel, "
        "10.0 ms each on average"
    )


def test_kernels_in_a_small_part_of_a_trace(tmp_path: Path) -> None:
    """How long the trace is, is said then."""
    run = foreign(tmp_path / "r", kernel("gemm", 0, 2), Event("operator", "mm", 2, 98))

    assert verdict(run) == (
        "The GPU was busy for 2.00 ms in a trace of 100 ms; from first to last kernel 2.00 ms passed."
    )


def test_a_share_of_nearly_nothing_has_a_digit(tmp_path: Path) -> None:
    """0 % and 100 % would say none and all."""
    run = foreign(tmp_path / "r", kernel("gemm", 0, 2), kernel("gemm", 998, 2))

    assert verdict(run).startswith("The GPU was busy 0.4 % and idle 99.6 % of the 1.00 s from first to last kernel")


def test_a_name_that_is_a_dictionary_is_told_by_the_first_line_in_it(tmp_path: Path) -> None:
    """As PyProf names its ranges."""
    name = "{'traceMarker': ['train.py:31', 'train.py:7'], 'op': 'attention'}"
    totals = [{"op_id": 0, "device": 0, "count": 2, "total_ns": 4 * MS, "window": 0}]
    told = manifest(state="imported", process={"wall_ns": None})
    run = make(tmp_path / "r", told, kernel_ops=[{"op_id": 0, "kind": "kernel", "name": name}], kernel_totals=totals)

    assert verdict(run).startswith("4.00 ms of work on the GPU, most of it in train.py:31 (100 %)")


def test_without_a_gpu_the_operators_are_told(tmp_path: Path) -> None:
    """By category, and the one with most time."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "aten::mm", 0, 60, category="matmul"),
        Event("operator", "aten::relu", 60, 20, category="elementwise"),
        Event("input", "next", 80, 20),
    )

    assert verdict(run) == (
        "No GPU is in the trace: operators ran in 80 % of its 100 ms, most of it matmul 60 %, elementwise 20 %; the "
        "operator with most time of its own is aten::mm; 20 % went to loading data."
    )


def test_sums_tell_their_largest(tmp_path: Path) -> None:
    """And that there are no times."""
    ops = [
        {"op_id": 0, "kind": "kernel", "name": "void at::native::softmax<float>(int)"},
        {"op_id": 1, "kind": "kernel", "name": "sgemm"},
    ]
    totals = [
        {"op_id": number, "device": 0, "count": 2, "total_ns": ns, "window": 0}
        for number, ns in ((0, 1 * MS), (1, 3 * MS))
    ]
    told = manifest(state="imported", process={"wall_ns": None})
    run = make(tmp_path / "r", told, kernel_ops=ops, kernel_totals=totals)

    assert verdict(run) == (
        "4.00 ms of work on the GPU, most of it in sgemm (75 %), softmax (25 %); when it ran is not in the file."
    )


def test_samples_tell_the_function_of_a_thread_that_works(tmp_path: Path) -> None:
    """Another only waits for it."""
    frames = [
        {"stack_id": 0, "depth": 0, "function": "join", "file": "/usr/lib/python3/threading.py", "line": 9},
        {"stack_id": 1, "depth": 0, "function": "tokenize", "file": "/home/me/project/bpe.py", "line": 31},
        {"stack_id": 2, "depth": 0, "function": "merge", "file": "/home/me/project/bpe.py", "line": 4},
    ]
    stacks = [
        {"thread_id": 1, "thread": "MainThread", "start_ns": 0, "dur_ns": 10 * S, "stack_id": 0},
        {"thread_id": 2, "thread": "worker", "start_ns": 0, "dur_ns": 6 * S, "stack_id": 1},
        {"thread_id": 2, "thread": "worker", "start_ns": 6 * S, "dur_ns": 2 * S, "stack_id": 2},
    ]
    told = manifest(state="imported", process={"wall_ns": 10 * S})
    run = make(tmp_path / "r", told, stacks=stacks, frames=frames)

    assert verdict(run) == "Of the samples of thread worker, 75 % or more stood in tokenize (project/bpe.py:31)."


def test_a_file_without_events_says_so(tmp_path: Path) -> None:
    """It is no answer of 0."""
    run = make(tmp_path / "r", manifest(state="imported", process={"wall_ns": None}))

    assert verdict(run) == "The files hold no event from which a time can be told."


def test_a_thread_that_only_waits_says_who_made_it_wait(tmp_path: Path) -> None:
    """The first line outside of Python's own library."""
    names = (("join", "/usr/lib/python3.11/pool.py", 6), ("encode", "/home/me/project/bpe.py", 218))
    frames = [
        {"stack_id": 0, "depth": 1 - number, "function": function, "file": file, "line": line}
        for number, (function, file, line) in enumerate(names)
    ]
    stacks = [{"thread_id": 1, "thread": "MainThread", "start_ns": 0, "dur_ns": 10 * S, "stack_id": 0}]
    told = manifest(state="imported", process={"wall_ns": 10 * S})
    run = make(tmp_path / "r", told, stacks=stacks, frames=frames)

    assert verdict(run) == (
        "Of the samples of thread MainThread, 100 % stood in join (python3.11/pool.py:6), called by encode "
        "(bpe.py:218)."
    )


def test_of_several_processes_the_reason_is_that_of_one(tmp_path: Path) -> None:
    """It is said whose."""
    run = foreign(
        tmp_path / "r",
        *(kernel("gemm", at, 2) for at in (0, 8)),
        *(kernel("gemm", at, 2, rank=1, window=1) for at in (0, 8)),
    )

    assert "; in most of the idle time of rank 0 (100 %) the host was in no operator" in verdict(run)


def test_steps_in_which_nothing_was_recorded(tmp_path: Path) -> None:
    """They are told all the same."""
    run = foreign(tmp_path / "r", marked("step 1", 0, 10), marked("step 2", 10, 10))

    assert verdict(run) == (
        "The trace shows no kernel, no operator and no sample. A step takes 10.0 ms, the median of 2."
    )


def test_what_was_not_traced_between_files_is_not_in_the_shares(tmp_path: Path) -> None:
    """A profiler with a schedule writes a file for each cycle, and is off between them."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "aten::mm", 0, 5, category="matmul"),
        Event("operator", "aten::mm", 95, 5, category="matmul", window=1),
        Event("input", "next", 90, 5, window=1),
    )

    assert verdict(run).startswith(
        "No GPU is in the trace: operators ran in 67 % of the 15.0 ms that were traced (of 100 ms from the first event "
        "to the last), most of it matmul 67 %;"
    )


def test_steps_that_only_begin_the_work_are_not_taken_for_it(tmp_path: Path) -> None:
    """JAX returns before its operators run."""
    run = foreign(
        tmp_path / "r",
        *(marked(f"train step {number}", number, 1) for number in range(2)),
        Event("operator", "dot.1", 2, 50, category="matmul", lane="pool"),
    )

    assert verdict(run).endswith(
        "A train step takes 1.00 ms, the median of 2, but 100 % of the time of operators lies outside of the steps: "
        "they may only start what runs later."
    )


def test_samples_of_no_thread_and_no_file_are_told_without_these(tmp_path: Path) -> None:
    """As in folded stacks of native code."""
    frames = [{"stack_id": 0, "depth": 0, "function": "sgemm_kernel", "file": "", "line": 0}]
    stacks = [{"thread_id": 0, "thread": "", "start_ns": 0, "dur_ns": S, "stack_id": 0}]
    run = make(tmp_path / "r", manifest(state="imported", process={"wall_ns": S}), stacks=stacks, frames=frames)

    assert verdict(run) == "Of the samples, 100 % stood in sgemm_kernel."


def test_functions_work_around_what_they_call_and_an_idle_thread_does_not_wait_for_them(tmp_path: Path) -> None:
    """A thread that sleeps all the time takes nothing of what another one does meanwhile."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "main (/a/train.py:1)", 0, 100, nested=90),
        Event("operator", "parse (/a/train.py:5)", 0, 60, nested=40),
        Event("operator", "loads (/a/json.py:9)", 10, 40),
        Event("wait", "time.sleep", 60, 30),
        Event("wait", "Event.wait", 0, 100, lane="worker"),
        source="chrome",
    )

    assert verdict(run).startswith("No GPU is in the trace: Python functions ran in 70 % of its 100 ms; the Python")


def test_operators_that_make_batches_are_no_work_of_the_model(tmp_path: Path) -> None:
    """They run beside it, in threads of the input pipeline; what the model waited for is told by that wait."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "EagerPyFunc", 0, 60, lane="pool", layer="input"),
        Event("input", "IteratorGetNextOp::DoCompute", 0, 50),
        Event("operator", "MatMul", 60, 40, category="matmul"),
        source="xspace",
    )

    assert verdict(run) == (
        "No GPU is in the trace: operators ran in 40 % of its 100 ms, most of it matmul 40 %; the operator with most time "
        "of its own is MatMul; 50 % went to loading data."
    )


def test_the_only_thread_is_not_called_as_a_whole_profile(tmp_path: Path) -> None:
    """As pyinstrument names it."""
    name = "CPU profile for 'Program: train.py' at 2026-01-01T00-00-00"
    frames = [{"stack_id": 0, "depth": 0, "function": "f", "file": "/home/me/a.py", "line": 3}]
    stacks = [{"thread_id": 1, "thread": name, "start_ns": 0, "dur_ns": S, "stack_id": 0}]
    run = make(tmp_path / "r", manifest(state="imported", process={"wall_ns": S}), stacks=stacks, frames=frames)

    assert verdict(run) == "Of the samples, 100 % stood in f (me/a.py:3)."


def test_functions_of_the_script_that_took_much_are_told_with_all_that_they_call(tmp_path: Path) -> None:
    """As far as the file knows whose they are."""
    run = foreign(tmp_path / "r", Event("operator", "dot", 0, 100, category="matmul"))
    told = [{"function": "load (train.py:14)", "total_ns": 40 * MS}, {"function": "f (train.py:2)", "total_ns": MS}]
    source = {"file": "0.json", "format": "xspace", "events": 1, "shift_ns": 0}
    run._tables["sources"] = table("sources", [{**source, "facts": json.dumps({"own_with_callees": told})}])

    assert verdict(run).endswith(" Functions of the script, with what they call: load (train.py:14) 40.0 ms.")


def test_steps_that_do_not_train_are_told_beside_those_that_do(tmp_path: Path) -> None:
    """An evaluation under the same profiler is no training step that takes longer."""
    run = foreign(
        tmp_path / "r",
        *(marked(f"ProfilerStep#{number}", 10 * number, 10) for number in range(3)),
        Event("operator", "aten::mm", 0, 10, direction="backward"),
        Event("operator", "aten::mm", 10, 10, direction="forward"),
        Event("operator", "aten::mm", 20, 10, direction="forward"),
    )

    assert verdict(run).endswith(
        "The trace holds one train step, of 10.0 ms. 2 other steps, without a backward pass, take 20.0 ms in all."
    )


def test_of_files_of_several_ranks_it_is_said_whose_the_answer_is(tmp_path: Path) -> None:
    """And what compares them."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "aten::mm", 0, 9, category="matmul"),
        Event("input", "next", 9, 1),
        Event("operator", "aten::mm", 0, 5, category="matmul", rank=1, window=1),
    )

    assert verdict(run) == (
        "No GPU is in the trace: operators of one process (rank 0, process 42) ran in 90 % of its 10.0 ms, "
        "most of it matmul 90 %; the operator with most time of its own in all processes is aten::mm; 10 % went to loading data. Operators of "
        "the other process took 5.00 ms (rank 1, process 42). The folder of their traces, imported "
        "itself, compares the ranks."
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "The line with most time is a.py:9 in go: 3.00 s, with what it calls."),
        (
            "work(9)",
            (
                "The line with most time of its own is a.py:9 in go: 2.00 s, and 3.00 s with the profiled functions "
                "that it calls, by its text."
            ),
        ),
    ],
)
def test_of_a_line_it_is_said_what_its_time_holds(text: str | None, said: str, tmp_path: Path) -> None:
    """Two files of one run, of which one has the text of the lines, told two times of one line."""
    row = {"file": "a.py", "first_line": 1, "hits": 9}
    lines = [
        {**row, "function": "go", "line": 9, "time_ns": 3 * S, "source": text},
        {**row, "function": "work", "line": 2, "time_ns": S, "source": None},
    ]

    assert verdict(make(tmp_path / "r", manifest(state="imported", process={"wall_ns": None}), lines=lines)) == said


def test_of_a_file_of_py_spy_it_is_said_how_many_samples_there_were(tmp_path: Path) -> None:
    """Of three, a share says little."""
    frames = [{"stack_id": 0, "depth": 0, "function": "f", "file": "/home/me/a.py", "line": 3}]
    stacks = [{"thread_id": 1, "thread": "MainThread", "start_ns": 0, "dur_ns": S, "stack_id": 0}]
    source = {"file": "p.txt", "format": "pyspy-raw", "events": None, "shift_ns": 0, "facts": '{"samples": 3}'}
    told = manifest(state="imported", process={"wall_ns": S})
    run = make(tmp_path / "r", told, stacks=stacks, frames=frames, sources=[source])

    assert verdict(run).startswith("Of the 3 samples of thread MainThread, 100 % stood in f")
