"""Memory over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from dlprof.analysis import memory_series
from dlprof.store.run import Run
from tests.unit.analysis.memory_runs import sample, split
from tests.unit.runs import trained


def made(folder: Path, *samples: dict[str, object]) -> Run:
    """A run with these samples."""
    return trained(folder / "r", process_samples=list(samples))


def test_the_tree_is_the_sum_of_its_processes(tmp_path: Path) -> None:
    """Sampled at one time; the processes are counted."""
    series = memory_series.of_run(made(tmp_path, sample(1, 100), sample(1, 50, pid=43), sample(2, 70)))

    assert series is not None
    assert (series.tree_bytes.tolist(), series.processes.tolist()) == ([150, 70], [2, 1])


def test_pages_of_files_are_not_a_process_own(tmp_path: Path) -> None:
    """They are known once a second; between that they are taken as on a line. What is swapped out is its own."""
    series = memory_series.of_run(
        made(tmp_path, split(1, 60, 40), sample(2, 120), {**split(3, 60, 80), "swap_bytes": 10})
    )

    assert series is not None
    assert series.is_split
    assert series.own_bytes.tolist() == [60, 65, 70]


def test_a_run_that_tells_no_kinds_has_its_resident_memory(tmp_path: Path) -> None:
    """As one of an older dlprof."""
    series = memory_series.of_run(made(tmp_path, sample(1, 100)))

    assert series is not None
    assert (series.is_split, series.own_bytes.tolist(), series.kinds_at(0)["anonymous_bytes"]) == (False, [100], None)


def test_memory_that_the_process_told_is_counted_as_its_samples_are(tmp_path: Path) -> None:
    """Pages of files are left out; what is shared or swapped out, as on a line between two looks at it, is not."""
    first, last = {**split(1, 60, 40), "swap_bytes": 10}, {**split(3, 60, 80), "shared_bytes": 4, "swap_bytes": 20}
    series = memory_series.of_run(made(tmp_path, first, split(2, 9000, 10, pid=43), last))

    assert series is not None
    assert series.own_told(2_000_000_000, 300, 100) == 100 + 2 + 15


def test_of_a_run_that_tells_no_kinds_all_that_is_resident_counts(tmp_path: Path) -> None:
    """Its samples have no more."""
    series = memory_series.of_run(made(tmp_path, sample(1, 100)))

    assert series is not None
    assert series.own_told(1_000_000_000, 300, 100) == 300


def test_memory_of_the_process_alone_lies_on_a_line_between_samples(tmp_path: Path) -> None:
    """Processes below are none of it."""
    series = memory_series.of_run(made(tmp_path, split(1, 60), split(1, 5000, pid=43), split(3, 80)))

    assert series is not None
    assert series.own_at(2_000_000_000) == 70


def test_peaks_between_samples_are_the_kernels(tmp_path: Path) -> None:
    """And proportional sizes are sums over the tree."""
    first = split(1, 100, peak_rss_bytes=900, pss_bytes=80, uss_bytes=60)
    second = split(1, 50, pid=43, peak_rss_bytes=2000, pss_bytes=30, uss_bytes=20)
    series = memory_series.of_run(made(tmp_path, first, second))

    assert series is not None
    assert (series.kernel_peak_bytes, series.pss_bytes, series.uss_bytes) == (900, 110, 80)


def test_processes_that_come_and_go_are_no_growth(tmp_path: Path) -> None:
    """A worker comes with 400, grows by 30, and goes; the traced process grows by 10, and then by 5."""
    own = [sample(1, 100), sample(2, 110), sample(3, 110), sample(4, 115)]
    series = memory_series.of_run(made(tmp_path, *own, sample(2, 400, pid=43), sample(3, 430, pid=43)))

    assert series is not None
    assert series.tree_bytes.tolist() == [100, 510, 540, 115]
    assert series.grown_bytes.tolist() == [0, 10, 40, 45]
    assert series.grown(np.array([1_500_000_000]), np.array([4_000_000_000])).tolist() == [40]


def test_without_samples_there_is_nothing(tmp_path: Path) -> None:
    """Not zeros."""
    assert memory_series.of_run(made(tmp_path)) is None


def test_of_many_samples_peaks_and_kinds_are_kept() -> None:
    """Of each two the one with most memory in all processes, and the first that tells kinds."""
    rows = pa.table(
        {
            "time_ns": [0, 0, 1, 1, 2, 2, 3, 3],
            "rss_bytes": [5, 5, 1, 2, 1, 1, 4, 4],
            "anonymous_bytes": [None, None, 1, None, None, None, 1, None],
        }
    )

    assert memory_series.thinned(rows, 2)["time_ns"].to_pylist() == [0, 0, 1, 1, 3, 3]
