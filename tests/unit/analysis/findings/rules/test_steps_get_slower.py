"""Steps of equal work that take longer and longer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    FIT,
    KERNELS,
    Call,
    Planted,
    diagnosed,
    keep_source,
    parts,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import MS


def growing(*, by_ms: float = 0.5) -> list[dict[str, Any]]:
    """100 steps of 10 ms, each longer than the one before."""
    rows, at = [], 2_000.0
    for row in runs.steps(100):
        ms = 10 + by_ms * row["step"]
        rows.append({**row, "start_ns": int(at * MS), "dur_ns": int(ms * MS)})
        at += ms
    return rows


def planted() -> Planted:
    """The last ones take six times as long as the first."""
    back = [*FIT, ("backward", "torch/_tensor.py", 9), ("_engine_run_backward", "torch/autograd/graph.py", 7)]
    return Planted(quiet(steps=growing(), **sampled((2, 8, back)), **runs.window(KERNELS)))


def test_steps_that_grow_all_along_are_named_with_what_grows(tmp_path: Path) -> None:
    """From 14.8 ms to 54.8 ms, in the backward pass."""
    finding = pick(planted().diagnosis(tmp_path), "steps-get-slower")

    assert "100 steps of equal work grow from 14.8 ms to 54.8 ms each" in finding.claim
    assert "most of all in the backward pass" in finding.claim
    assert finding.at_stake_ns == pytest.approx(2_240 * MS, rel=0.02)
    assert "detach" in str(finding.fix)


def test_steps_of_one_length_do_not_grow(tmp_path: Path) -> None:
    """Nor do those that are slow for a while, because the machine was."""
    slow = runs.steps(100)
    for row in slow[60:80]:
        row["dur_ns"] *= 5

    assert "steps-get-slower" not in slugs(diagnosed(tmp_path / "a", **quiet()))
    assert "steps-get-slower" not in slugs(diagnosed(tmp_path / "b", **quiet(steps=slow)))


def test_steps_of_unequal_work_are_not_compared(tmp_path: Path) -> None:
    """Each has more samples than the one before, as in a curriculum."""
    steps = [{**row, "samples": 10 + row["step"]} for row in growing()]

    assert "steps-get-slower" not in slugs(diagnosed(tmp_path / "r", **quiet(steps=steps)))


@pytest.mark.parametrize(("unusual", "is_told"), [(30, False), (5, True)])
def test_steps_of_batches_of_other_shapes_are_not_compared(tmp_path: Path, unusual: int, is_told: bool) -> None:
    """`train_on_batch` with longer ones all the time; a last one that is smaller, in each epoch, is none of these."""
    detail = f'{{"unusual_batches": [{unusual}, 100]}}'
    spans = [runs.span("on_batch", 2.0, 2.0, span_id=1, detail=detail)]

    found = slugs(diagnosed(tmp_path / "r", **quiet(steps=growing(), spans=spans)))

    assert ("steps-get-slower" in found) is is_told


def test_growth_of_callbacks_is_theirs_and_not_the_steps(tmp_path: Path) -> None:
    """The work of the steps stays 10 ms each; before, the line of `fit` was blamed."""
    rows = [{**row, "callbacks_ns": row["dur_ns"] - 10 * MS} for row in growing()]
    callback = [*FIT, ("on_batch_end", "keras/src/callbacks/callback.py", 9), ("Progress.show", "train.py", 30)]
    parts_ = {"phases": parts(fit_steps=1, fit_callbacks=5, teardown=2)}
    tables = quiet(steps=rows, **sampled((2, 8, callback)), **parts_)
    found = diagnosed(tmp_path / "r", **tables)
    finding = pick(found, "slow-callback")

    assert "steps-get-slower" not in slugs(found)
    assert "and take longer each time (steps of equal work, with them, grow from" in finding.claim
    assert finding.line == 30
    assert finding.next_step.startswith("See what the callback goes through again at each batch")


def test_callbacks_may_grow_in_steps_that_take_long_themselves(tmp_path: Path) -> None:
    """From 3 ms to 27 ms beside 60 ms of the step, which grows by less than a half."""
    rows, at = [], 2_000.0
    for row in runs.steps(100):
        called = 0.3 * row["step"]
        rows.append(
            {**row, "start_ns": int(at * MS), "dur_ns": int((60 + called) * MS), "callbacks_ns": int(called * MS)}
        )
        at += 60 + called
    callback = [*FIT, ("on_batch_end", "keras/src/callbacks/callback.py", 9), ("Progress.show", "train.py", 30)]
    phases = {"phases": parts(fit_steps=6, fit_callbacks=1.5, teardown=1)}
    tables = quiet(steps=rows, **sampled((2, 8, callback)), **phases)
    finding = pick(diagnosed(tmp_path / "r", **tables), "slow-callback")

    assert "and take longer each time (they grow from 2.85 ms to 26.9 ms each" in finding.claim
    assert finding.line == 30


def test_the_line_that_grows_is_named_and_not_the_one_that_stands_longest(tmp_path: Path) -> None:
    """Line 40 stands for 1.1 s in both halves of the loop, line 18 for 1.2 s in the second alone."""
    update, metric = [*FIT, ("train", "train.py", 40)], [*FIT, ("compute", "train.py", 18)]
    stood = sampled((2, 3.1, update), (3.1, 4.3, metric), (4.3, 5.4, update))
    finding = pick(diagnosed(tmp_path / "r", **quiet(steps=growing(), **stood)), "steps-get-slower")

    assert finding.line == 18
    assert "most of all at line 18:" in finding.claim
    assert "do it less often: every so many steps, and at the end" in finding.next_step


@pytest.mark.parametrize(("function", "is_hook"), [("record", True), ("Net.forward", False)])
def test_a_line_that_grows_in_a_hook_is_told_as_one_of_hooks_that_pile_up(
    function: str, is_hook: bool, tmp_path: Path
) -> None:
    """The engine calls it beside what the model computes; the model's own functions are no hooks."""
    call: Call = ("Module._call_impl", "torch/nn/modules/module.py", 1884)
    update, grows = (
        [*FIT, ("train", "train.py", 40)],
        [*FIT, ("train", "train.py", 41), call, (function, "train.py", 18)],
    )
    stood = sampled((2, 3.1, update), (3.1, 4.3, grows), (4.3, 5.4, update))
    finding = pick(diagnosed(tmp_path / "r", **quiet(steps=growing(), **stood)), "steps-get-slower")

    assert finding.line == 18
    assert finding.next_step.startswith("That line runs in a hook") is is_hook


def test_no_line_is_named_where_all_grow_alike(tmp_path: Path) -> None:
    """Three lines, each for a third of both halves."""
    lines = [[*FIT, ("train", "train.py", line)] for line in (30, 31, 32)]
    stood = [(2 + 0.37 * n, 2 + 0.37 * (n + 1), lines[n]) for n in range(3)]
    stood += [(3.11 + 0.78 * n, 3.11 + 0.78 * (n + 1), lines[n]) for n in range(3)]
    finding = pick(diagnosed(tmp_path / "r", **quiet(steps=growing(), **sampled(*stood))), "steps-get-slower")

    assert "most of all" not in finding.claim
    assert finding.next_step.startswith("See what each step leaves behind")


def some_grow(*, every: int = 5, by_ms: float = 2.0) -> list[dict[str, Any]]:
    """200 steps of 10 ms, of which one in so many takes longer each time."""
    rows, at = [], 2_000.0
    for row in runs.steps(200):
        ms = 10 + (by_ms * row["step"] / every if row["step"] % every == every - 1 else 0)
        rows.append({**row, "start_ns": int(at * MS), "dur_ns": int(ms * MS)})
        at += ms
    return rows


def test_each_fifth_step_may_grow_alone(tmp_path: Path) -> None:
    """A log that is written anew: 40 steps of which each takes 2 ms more, at the line that writes it."""
    writes = [("save", "train.py", 33), ("fit", "train.py", 40)]
    backward = [("_engine_run_backward", "torch/autograd/graph.py", 7), ("fit", "train.py", 38)]
    stood = sampled((2, 6, backward[::-1]), (6, 8, writes[::-1]))
    finding = pick(diagnosed(tmp_path / "r", **quiet(steps=some_grow(), **stood)), "steps-get-slower")

    assert "40 steps, one in 5, grow from 18.6 ms to 82.6 ms each" in finding.claim
    assert finding.line == 33
    assert "append it to the file" in finding.next_step


def test_steps_that_are_longer_at_odd_times_tell_no_growth(tmp_path: Path) -> None:
    """Nor do those that come regularly, and take equally long."""
    odd = runs.steps(200)
    for at in (3, 17, 50, 61, 90, 121, 150, 163, 164, 171, 180, 199):
        odd[at]["dur_ns"] *= 3 + at // 20
    even = some_grow(by_ms=0)
    for row in even[4::5]:
        row["dur_ns"] = 60 * MS

    assert "steps-get-slower" not in slugs(diagnosed(tmp_path / "a", **quiet(steps=odd)))
    assert "steps-get-slower" not in slugs(diagnosed(tmp_path / "b", **quiet(steps=even)))


@pytest.mark.parametrize("partial", [{99}, {79, 159}, {33, 66, 132}])
def test_a_smaller_batch_in_between_shifts_nothing(partial: set[int], tmp_path: Path) -> None:
    """It is not compared, but counts: each fifth step takes 60 ms from the first on, and none grows."""
    rows = some_grow(by_ms=0)
    for row in rows[4::5]:
        row["dur_ns"] = 60 * MS
    for at in partial:
        rows[at]["samples"] = 7

    assert "steps-get-slower" not in slugs(diagnosed(tmp_path / "r", **quiet(steps=rows)))


@pytest.mark.parametrize(
    ("text", "is_file"), [("    writer.writerows(self.rows)", True), ("    total = sum(rows)", False)]
)
def test_a_file_that_is_written_anew_with_all_that_was_before_is_to_be_added_to(
    text: str, is_file: bool, tmp_path: Path
) -> None:
    """The line that stood longest writes; else nobody knows what grows."""
    tables = quiet(steps=growing(), **sampled((2, 8, [*FIT, ("save", "train.py", 27)])), **runs.window(KERNELS))
    run = runs.trained(tmp_path / "r", **tables)
    keep_source(run, "\n" * 26 + text + "\n")
    finding = pick(diagnose.diagnose(run), "steps-get-slower")

    assert ("append what is new to the file" in finding.next_step) == is_file
    assert str(finding.fix).startswith("open(path, 'a') in place of open(path, 'w')") == is_file


def test_growth_that_levels_off_is_asked_about_and_nothing_is_said_to_be_kept(tmp_path: Path) -> None:
    """From 10 ms towards 50: most of it is over in the first half, as where numbers become denormal."""
    rows, at = [], 2_000.0
    for row in runs.steps(100):
        ms = 50 - 40 * 0.97 ** row["step"]
        rows.append({**row, "start_ns": int(at * MS), "dur_ns": int(ms * MS)})
        at += ms
    finding = pick(diagnosed(tmp_path / "r", **quiet(steps=rows)), "steps-get-slower")

    assert "and level off" in finding.claim
    assert finding.confidence < 0.5
    assert "torch.set_flush_denormal(True)" in finding.next_step
    assert "leaves behind: lists" not in finding.next_step


EPISODES = [
    "for episode in range(100):",
    "    while not done:",
    "        state, done = env.step(act(state))",
    "    learn()",
]


@pytest.mark.parametrize(("turns", "is_claimed"), [(1, True), (30, False)])
def test_where_a_loop_in_the_step_may_have_more_turns_it_is_asked(tmp_path: Path, turns: int, is_claimed: bool) -> None:
    """An episode that becomes longer is more work; of one turn each nothing is asked."""
    line = {"file": "train.py", "function": "<module>", "first_line": 1, "line": 3, "hits": 100 * turns, "time_ns": 0}
    tables = {**planted().tables, "spans": [{**runs.fit_span(), "line": 1}], "lines": [line]}
    finding = pick(Planted(tables, source="\n".join(EPISODES)).diagnosis(tmp_path), "steps-get-slower")

    assert (finding.confidence >= 0.5) is is_claimed
    assert ("the loop at line 2 has about 30 turns in each" in finding.claim) is not is_claimed
