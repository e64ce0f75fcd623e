"""Tables of trainings that are fed by a loader: its passes, workers, and where these stood."""

from __future__ import annotations

from typing import Any

from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, Call, Tables, cpu, parts
from tests.unit.runs import MS, S

FETCH: list[Call] = [
    ("BaseProcess.run", "<python>/multiprocessing/process.py", 108),
    ("_worker_loop", "torch/utils/data/_utils/worker.py", 374),
    ("_MapDatasetFetcher.fetch", "torch/utils/data/_utils/fetch.py", 54),
    ("Images.__getitem__", "train.py", 21),
]
"""A worker makes an item; outermost first."""
COLLATE: list[Call] = [*FETCH[:-1], ("default_collate", "torch/utils/data/_utils/collate.py", 398)]
REST: list[Call] = [
    *FETCH[:2],
    ("Queue.get", "<python>/multiprocessing/queues.py", 113),
    ("Connection._poll", "<python>/multiprocessing/connection.py", 440),
]
"""It waits for work."""
ASKS: list[Call] = [
    *FIT,
    ("_BaseDataLoaderIter.__next__", "torch/utils/data/dataloader.py", 725),
    ("_SingleProcessDataLoaderIter._next_data", "torch/utils/data/dataloader.py", 790),
    *FETCH[2:],
]
"""Without workers: the thread that trains makes it."""


def passes(count: int = 3, **changes: Any) -> list[dict[str, Any]]:
    """Rows of `loaders`: passes of 2 s from 2 s on, 50 batches each, 4 ms to begin and to end."""
    row = {
        "thread_id": 1, "loader": 1, "kind": "DataLoader", "dataset": "Images", "file": "train.py", "line": 5,
        "open_ns": 4 * MS, "dur_ns": 1990 * MS, "first_wait_ns": 40 * MS, "waited_ns": 700 * MS, "last_wait_ns": 4 * MS,
        "item_count": 50, "workers": 2, "uses_processes": True, "persistent": False, "queue": 2,
        "queue_per_worker": True, "batch_size": 8, "collate": "default_collate",
    }  # fmt: skip
    return [{**row, "start_ns": int((2 + 2 * number) * S), **changes} for number in range(count)]


def processes(*cpu_s: float, passes_: int = 3) -> list[dict[str, Any]]:
    """Rows of `processes`: in each pass a worker for each CPU time (s)."""
    main = {"pid": 42, "role": "main", "parent_pid": 1, "start_ns": 0, "cpu_ns": S}
    rows = [main]
    for number in range(passes_):
        for worker, seconds in enumerate(cpu_s):
            start = int((2 + 2 * number) * S) + MS
            name = f"DataLoader worker {worker}"
            times = {"start_ns": start, "end_ns": start + 1980 * MS, "cpu_ns": int(seconds * S)}
            pid = 100 * (number + 1) + worker
            rows.append({"pid": pid, "role": "worker", "name": name, "parent_pid": 42, **times})
    return rows


def stood(*workers: tuple[float, list[Call]], passes_: int = 3) -> Tables:
    """Stacks of workers: in each pass worker n is for a share of it in its frames, and waits for work in the rest."""
    stacks, frames, number = [], [], 0
    for worker, (share, calls) in enumerate(workers):
        for made, part in ((calls, share), (REST, 1 - share)):
            rows = enumerate(made)
            frames += [{"stack_id": number, "depth": n, "function": f, "file": p, "line": ln} for n, (f, p, ln) in rows]
            for pass_ in range(passes_):
                at = {"start_ns": int((2 + 2 * pass_) * S) + 2 * MS, "dur_ns": int(part * 1900) * MS}
                pid = 100 * (pass_ + 1) + worker
                stacks.append({"pid": pid, "thread_id": 1, "thread": "MainThread", "stack_id": number, **at})
            number += 1
    return {"stacks": stacks, "frames": frames}


def trained(waits_ms: list[int], **changes: Any) -> Tables:
    """Tables of a training of 6 s, 3 epochs of 50 steps; steps wait so long in turn (ms), and the rest is the step."""
    steps = runs.steps(150, dur_ms=40)
    total = 0
    for number, row in enumerate(steps):
        wait = waits_ms[number % len(waits_ms)] * MS
        row |= {"start_ns": row["start_ns"] + wait, "dur_ns": 40 * MS - wait, "input_ns": wait, "epoch": number // 50}
        row["call_ns"] = row["dur_ns"]
        total += wait
    waited = total / S
    epochs = [{"loop_id": 1, "epoch": n, "start_ns": (2 + 2 * n) * S, "dur_ns": 2 * S, "steps": 50} for n in range(3)]
    intervals = ("fit.input", 2, 2 + waited), ("fit.steps", 2 + waited, 8), ("teardown", 8, 10)
    return {
        "phases": parts(fit_steps=6 - waited, fit_input=waited, teardown=2),
        "phase_intervals": runs.intervals(("import", 0, 2), *intervals),
        "steps": steps,
        "epochs": epochs,
        "loaders": passes(),
        "spans": [runs.fit_span(adapter="TorchDataLoaderAdapter")],
        "lines": [
            {
                "file": "train.py",
                "function": "f",
                "first_line": 1,
                "line": 21,
                "how": "sampled",
                "samples": 9,
                "time_ns": S,
            }
        ],
        **cpu((2.0, IDLE), (8.0, HALF), tree=60.0),
        **changes,
    }


IDLE = {"run_ns": 0, "wait_ns": 0, "main_run_ns": 0, "main_wait_ns": 0}
HALF = {"run_ns": 3 * S, "wait_ns": 0, "main_run_ns": 3 * S, "main_wait_ns": 0}
"""The program's own threads slept for half of the training."""
