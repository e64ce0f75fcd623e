"""Python of the script's that other threads run while the main one waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, Call, cpu, keep_source, parts, quiet, sampled
from tests.unit.runs import S

HANDLES: list[Call] = [("run", "<python>/threading.py", 982), ("handle", "train.py", 8), ("tokenise", "train.py", 12)]
WAITS: list[Call] = [("<module>", "train.py", 5), ("select", "<python>/selectors.py", 415)]


def served(folder: Path, handler: list[Call], *, ran_s: float, main_s: float = 0, source: str = "") -> list[Finding]:
    """What is said of 6 s of a script that trains nothing: for 4 s of them one thread stands so, the main one waits."""
    main, other = sampled((1, 7, WAITS)), sampled((2, 6, handler), thread="Thread-1")
    frames = [{**row, "stack_id": row["stack_id"] + 1} for row in other["frames"]]
    stacks = [{**row, "stack_id": row["stack_id"] + 1, "thread_id": 2} for row in other["stacks"]]
    used = {**BEGIN, "run_ns": int((ran_s + main_s) * S), "main_run_ns": int(main_s * S)}
    tables = quiet(
        phases=parts(import_=1, script=6, teardown=3),
        phase_intervals=runs.intervals(("import", 0, 1), ("script", 1, 7), ("teardown", 7, 10)),
        steps=[],
        lines=[{"file": "train.py", "function": "f", "first_line": 1, "line": 12, "hits": 9, "time_ns": S}],
        stacks=[*main["stacks"], *stacks],
        frames=[*main["frames"], *frames],
        **cpu((1, BEGIN), (7, used), tree=0.0),
    )
    run = runs.trained(folder / "r", **tables)
    keep_source(run, source)
    return [one for one in diagnose(run).findings if one.slug == "python-overhead"]


def test_python_that_a_thread_runs_while_the_main_one_waits_is_told_with_its_line(tmp_path: Path) -> None:
    """A server that cuts texts into words: 4 of 6 s."""
    (finding,) = served(tmp_path, HANDLES, ran_s=4)

    assert (finding.at_stake_ns, finding.line, finding.heading) == (
        4 * S,
        12,
        "The script's own Python took long on other threads",
    )


def test_threads_are_charged_for_no_more_than_the_process_worked_beside_the_main_one(tmp_path: Path) -> None:
    """They stood there for 4 s, and had a core for 2."""
    (finding,) = served(tmp_path, HANDLES, ran_s=2)

    assert finding.at_stake_ns == pytest.approx(2 * S, rel=0.01)


@pytest.mark.parametrize(
    ("inside", "source"),
    [
        (("relu", "torch/nn/functional.py", 3), ""),
        (("recv", "<python>/socket.py", 706), ""),
        (("Condition.wait", "<python>/threading.py", 327), ""),
        (None, "\n" * 11 + "time.sleep(9)\n"),
    ],
    ids=["engine", "network", "another thread", "pause"],
)
def test_a_thread_that_waits_or_calls_the_engine_runs_no_python(
    inside: Call | None, source: str, tmp_path: Path
) -> None:
    """Another one had the core meanwhile."""
    stack = HANDLES if inside is None else [*HANDLES, inside]

    assert served(tmp_path, stack, ran_s=4, source=source) == []


def test_nothing_is_said_where_the_main_thread_works_itself(tmp_path: Path) -> None:
    """It ran for all of the 6 s: that is told, at its own line."""
    assert [one.line for one in served(tmp_path, HANDLES, ran_s=0, main_s=6)] == [5]
