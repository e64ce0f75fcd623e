"""Runs with samples of memory, for the tests of what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dlprof.store.run import Run
from tests.unit.runs import MS, S, steps, trained

MB = 1_000_000


def sample(time_s: float, rss: int, pid: int = 42, **more: Any) -> dict[str, Any]:
    """A process at a moment."""
    return {"pid": pid, "time_ns": round(time_s * S), "interval_ns": S // 10, "rss_bytes": rss, **more}


def split(time_s: float, anonymous: int, file: int = 0, **more: Any) -> dict[str, Any]:
    """A process at a moment at which the kinds were looked at."""
    kinds = {"anonymous_bytes": anonymous, "file_bytes": file, "shared_bytes": 0, "swap_bytes": 0}
    return sample(time_s, anonymous + file, **{**kinds, **more})


def over_training(own: Sequence[int], path: Path, **tables: Any) -> Run:
    """A run of 500 steps between 2 s and 7 s; memory (bytes) at equal times between."""
    return trained(path, **{**training(own), **tables})


def training(own: Sequence[int]) -> dict[str, Any]:
    """The tables of such a run."""
    each = 5 / len(own)
    samples = [split(2 + number * each, value) for number, value in enumerate(own)]
    return {"process_samples": samples, "steps": steps(500, dur_ms=10)}


def stood(begin_s: float, end_s: float, line: int) -> dict[str, Any]:
    """Tables of a stack of the main thread, in a line of train.py."""
    start = round(begin_s * S)
    stack = {"thread_id": 1, "thread": "MainThread", "start_ns": start, "dur_ns": round(end_s * S) - start}
    frames = [("train", "train.py", line), ("numpy", "numpy/core.py", 1)]
    return {
        "stacks": [{**stack, "stack_id": line}],
        "frames": [
            {"stack_id": line, "depth": depth, "function": function, "file": file, "line": at}
            for depth, (function, file, at) in enumerate(frames)
        ],
    }


def allocated(*lines: tuple[int | None, Sequence[int]], peak: int = 10 * MB) -> dict[str, Any]:
    """Tables of what lines of train.py allocated in a function of numpy, and held at 50 moments from 2 s to 7 s.

    Args:
        lines: Line, None for no line of the script, and what it held (bytes).
        peak: What each held at the most (bytes).
    """
    places = [
        {
            "place": number, "file": line and "train.py", "line": line, "function": line and "train",
            "at_file": "numpy/core.py", "at_line": 9, "at_function": "zeros",
            "peak_bytes": peak, "peak_count": 3, "places": 1,
        }
        for number, (line, _) in enumerate(lines)
    ]  # fmt: skip
    held = [
        {"place": number, "time_ns": 2 * S + moment * 100 * MS, "bytes": size}
        for number, (_, sizes) in enumerate(lines)
        for moment, size in enumerate(sizes)
    ]
    return {"heap": places, "heap_held": held}


__all__ = ["MB", "MS", "S", "allocated", "over_training", "sample", "split", "stood", "training"]
