"""For how much of its samples a thread ran beside others that run Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import interpreter_waits
from dlprof.analysis.findings.case import Case
from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, KERNELS, Call, cpu, quiet, sampled
from tests.unit.runs import S

LINE: list[Call] = [("learn", "train.py", 40)]
ACTS: list[Call] = [("run", "<python>/threading.py", 9), ("actor", "train.py", 12)]
CALLED: list[Call] = [("pure_callback", "jax/_src/callback.py", 90), ("loss", "train.py", 12)]
RESTS: list[Call] = [("actor", "train.py", 12), ("get", "<python>/queue.py", 171)]
COMPUTES: list[Call] = [("actor", "train.py", 12), ("forward", "torch/nn/modules/linear.py", 134)]


def running(path: Path, other: list[Call], main_s: int, whole_s: int, waits_s: float = 0.0) -> float:
    """What is found of 6 s of steps in which hardly an operator runs.

    Args:
        path: Folder of the run.
        other: Where another thread stands meanwhile.
        main_s: For how long the thread of the steps had a core (s).
        whole_s: For how long all threads of the process had (s).
        waits_s: For how long it is known to wait for something else (s).
    """
    used = {"run_ns": whole_s * S, "wait_ns": 0, "main_run_ns": main_s * S, "main_wait_ns": 0}
    tables = sampled((2, 2 + waits_s, [*LINE, ("get", "<python>/queue.py", 171)]), (2 + waits_s, 8, LINE))
    others = sampled((2, 8, other), thread="actor")
    for row in (*others["stacks"], *others["frames"]):
        row["stack_id"] += 10
    both = {name: [*tables[name], *others[name]] for name in ("stacks", "frames")}
    window = runs.window([{**KERNELS[0], "ms": 0.1}])
    rows = quiet(spans=[runs.fit_span()], **window, **both, **cpu((2, BEGIN), (8, used)))
    run = runs.held(path, runs.manifest(keras=None), **{**runs.training(), **rows})
    return interpreter_waits.running(Case(run), lambda sample: sample.frames[0].name == "get")


@pytest.mark.parametrize(
    ("other", "main_s", "whole_s", "waits_s", "expected"),
    [
        (ACTS, 2, 6, 0.0, 2 / 6),
        (ACTS, 2, 6, 3.0, 2 / 3),  # of 3 s in which it waits for nothing that is known
        (ACTS, 6, 12, 0.0, 1.0),  # it always had a core: it waited for nobody
        (ACTS, 2, 2, 0.0, 1.0),  # no other thread had a core: its line is a pause, such as a sleep
        (RESTS, 2, 6, 0.0, 1.0),  # the other one waits
        (CALLED, 2, 6, 0.0, 1.0),  # an operator of the step called it: the thread waits for that
        (COMPUTES, 2, 6, 0.0, 1.0),  # the other one stands in the engine, which lets the interpreter go
    ],
)
def test_a_thread_ran_for_what_it_had_a_core_where_others_run_python(
    tmp_path: Path, other: list[Call], main_s: int, whole_s: int, waits_s: float, expected: float
) -> None:
    """Of the samples in which it does not wait for something else; else nothing speaks against all of them."""
    assert running(tmp_path / "r", other, main_s, whole_s, waits_s) == pytest.approx(expected, rel=0.03)
