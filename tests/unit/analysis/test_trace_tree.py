"""The tree of foreign traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import breakdown
from dlprof.analysis.breakdown import Breakdown
from dlprof.schema.vocabulary import StepPart
from dlprof.store.run import Run
from tests.unit.foreign import Event, foreign, kernel, marked
from tests.unit.runs import MS


def tree_of(run: Run) -> Breakdown:
    """Its tree, whose leaves sum to the wall time."""
    tree = breakdown.of_run(run)
    assert tree is not None
    assert sum(tree.leaves.values()) + tree.unattributed_ns == tree.wall_ns
    return tree


def leaves(run: Run) -> dict[str, float]:
    """The leaves (ms)."""
    return {str(path): ns / MS for path, ns in tree_of(run).leaves.items()}


def test_idle_time_of_a_gpu_is_told_by_what_the_host_did(tmp_path: Path) -> None:
    """The first that fits: data, waiting, launching, Python; the rest is idle."""
    run = foreign(
        tmp_path / "r",
        Event("input", "next", 0, 10),
        Event("operator", "stack", 2, 3, nested=0),
        kernel("gemm", 10, 20),
        Event("wait", "cudaDeviceSynchronize", 25, 10),
        Event("operator", "mm", 35, 5),
        Event("python", "main", 40, 7),
        kernel("gemm", 50, 10),
    )

    assert leaves(run) == {
        "trace/kernels/matmul": 30,
        "trace/input": 10,
        "trace/sync": 5,
        "trace/dispatch": 5,
        "trace/host_python": 7,
        "trace/idle": 3,
    }


def test_operators_of_the_host_are_no_work_beside_a_gpu(tmp_path: Path) -> None:
    """The same operator and its kernel count once."""
    run = foreign(tmp_path / "r", Event("operator", "mm", 0, 10, category="matmul"), kernel("gemm", 4, 10))

    assert leaves(run) == {"trace/dispatch": 4, "trace/kernels/matmul": 10}


def test_collectives_and_copies_count_where_no_kernel_hides_them(tmp_path: Path) -> None:
    """Kernels first, then collectives, then copies."""
    run = foreign(
        tmp_path / "r",
        kernel("gemm", 0, 10),
        kernel("nccl", 5, 10, category="collective", lane="stream 20"),
        Event("transfer", "Memcpy", 12, 8, device=0, lane="stream 22", category="transfer"),
    )

    assert leaves(run) == {"trace/kernels/matmul": 10, "trace/kernels/collective": 5, "trace/transfer": 5}


def test_of_several_gpus_it_is_the_mean(tmp_path: Path) -> None:
    """One that computes for half of the time, and one that does for all of it."""
    run = foreign(tmp_path / "r", kernel("gemm", 0, 10), kernel("gemm", 0, 20, device=1))

    assert leaves(run) == {"trace/kernels/matmul": 15, "trace/idle": 5}


def test_steps_and_what_is_outside_of_them_are_split_apart(tmp_path: Path) -> None:
    """Work that goes on over the end of a step counts where it is."""
    run = foreign(tmp_path / "r", marked("train_step 1", 0, 10), marked("train_step 2", 10, 10), kernel("gemm", 15, 10))
    tree = tree_of(run)

    assert leaves(run) == {
        "fit/steps/kernels/matmul": 5,
        "fit/steps/idle": 15,
        "outside_steps/kernels/matmul": 5,
    }
    assert (tree.steps, tree.unsplit) == ("fit/steps", None)
    assert [(layer.op, layer.ns / MS) for layer in tree.layers] == [("gemm", 5)]


def test_categories_share_the_time_in_which_their_kernels_run_at_once(tmp_path: Path) -> None:
    """Two streams at once for 10 ms: each has half of these, and the first one what is before and after."""
    run = foreign(tmp_path / "r", kernel("gemm", 0, 20), kernel("relu", 5, 10, category="elementwise", lane="stream 9"))

    assert leaves(run)["trace/kernels/matmul"] == pytest.approx(15, abs=1e-5)
    assert sum(leaves(run).values()) == 20


def test_without_a_gpu_the_operators_are_the_work(tmp_path: Path) -> None:
    """One that is mostly other operators only calls them."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "linear", 0, 10, nested=8),
        Event("operator", "mm", 1, 8, category="matmul"),
        Event("operator", "relu", 12, 4, category="elementwise", lane="other"),
    )

    assert leaves(run) == {
        "trace/kernels/matmul": 8,
        "trace/kernels/elementwise": 4,
        "trace/dispatch": 2,
        "trace/idle": 2,
    }


@pytest.mark.parametrize(("lane", "dispatch", "idle"), [("tf_data_pool", 0, 6), ("main", 6, 0)])
def test_a_pool_that_makes_batches_starts_no_work_of_the_model(
    lane: str, dispatch: float, idle: float, tmp_path: Path
) -> None:
    """False before: while a callback ran, a generator's `PyFunc` on a thread of its own was dispatch of the step."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "mm", 0, 4, category="matmul"),
        Event("operator", "PyFunc", 2, 8, lane=lane, layer="input"),
        Event("runtime", "RunHandler", 2, 8, lane=lane),
    )

    found = leaves(run)
    assert (found.get("trace/dispatch", 0), found.get("trace/idle", 0)) == (dispatch, idle)


def test_without_a_gpu_a_range_of_a_collective_is_one(tmp_path: Path) -> None:
    """Beside a GPU it only starts the collective."""
    host = foreign(tmp_path / "a", Event("operator", "mm", 0, 4, category="matmul"), marked("gloo:all_reduce", 4, 6))
    both = foreign(tmp_path / "b", kernel("gemm", 0, 4), marked("gloo:all_reduce", 4, 6))

    assert leaves(host) == {"trace/kernels/matmul": 4, "trace/kernels/collective": 6}
    assert leaves(both) == {"trace/kernels/matmul": 4, "trace/idle": 6}


def test_the_reasons_of_idle_time_lie_between_the_first_and_the_last_kernel(tmp_path: Path) -> None:
    """What is before and after is no gap of the GPU."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "mm", 0, 10),
        kernel("gemm", 10, 5),
        Event("operator", "mm", 15, 3),
        kernel("gemm", 20, 5),
        Event("wait", "cudaDeviceSynchronize", 25, 10),
    )

    idle = {part: ns / MS for part, ns in tree_of(run).idle.items() if ns}
    assert idle == {StepPart.DISPATCH: 3, StepPart.IDLE: 2}


def test_another_process_is_not_in_the_tree(tmp_path: Path) -> None:
    """It has its own GPU, and its own time; what was traced of it alone is in no phase."""
    run = foreign(tmp_path / "r", kernel("gemm", 0, 10), kernel("conv", 0, 30, category="conv", rank=1, window=1))
    tree = tree_of(run)

    assert leaves(run) == {"trace/kernels/matmul": 10}
    assert tree.unattributed_ns == 20 * MS


def test_files_without_events_are_one_leaf(tmp_path: Path) -> None:
    """Samples and lines tell how long it was, and no more."""
    run = foreign(tmp_path / "r", wall=50)

    assert leaves(run) == {"trace": 50}
    assert tree_of(run).unsplit == "its files hold no events of operators or kernels"
