"""The rule memory-growth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.findings.rules import memory_growth
from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted
from tests.unit.analysis.memory_runs import MB, allocated, over_training, stood, training

STANDING = stood(2, 8, 30)


def claims(own: list[int], folder: Path, **tables: Any) -> list[Any]:
    """Claims on a run with this memory, sampled 100 times over 500 steps."""
    return list(memory_growth.look(Case(over_training(own, folder / "r", **STANDING, **tables))))


def planted() -> Planted:
    """A megabyte more with each sample, and nobody gives one back."""
    return Planted({**training([n * MB for n in range(100)]), **STANDING})


def test_a_line_for_which_a_graph_is_compiled_in_each_step_comes_first(tmp_path: Path) -> None:
    """The engine keeps all of them: 300 in 500 steps."""
    compiled = [runs.span("graph_compile", 2 + n / 100, 2.005 + n / 100, span_id=100 + n, line=7) for n in range(300)]
    (claim,) = claims([n * MB for n in range(100)], tmp_path, spans=compiled)

    assert claim.line == ("train.py", 7)
    assert "train.py:7 has one more graph compiled (300 times)" in claim.sentence.before


GROWING = {
    "evenly": [n * MB for n in range(100)],
    "with a sawtooth on top": [n * MB + n % 7 * MB for n in range(100)],
    "from 400 MB on": [400 * MB + n * MB for n in range(100)],
}
CLEAN = {
    "flat": [300 * MB] * 100,
    "a sawtooth": [300 * MB + n % 20 * MB for n in range(100)],
    "warm-up": [300 * MB + min(n, 20) * 4 * MB for n in range(100)],
    "a cache that ends": [300 * MB + min(n, 60) * 2 * MB for n in range(100)],
    "a jump": [300 * MB + (n > 50) * 90 * MB for n in range(100)],
    "little": [300 * MB + n * MB // 10 for n in range(100)],
    "falling": [300 * MB - n * MB for n in range(100)],
}


@pytest.mark.parametrize("name", GROWING)
def test_growth_is_found_with_its_line(name: str, tmp_path: Path) -> None:
    """Where the main thread stood; it takes no time from other rules."""
    (claim,) = claims(GROWING[name], tmp_path)

    assert (claim.line, dict(claim.takes)) == (("train.py", 30), {})


def test_the_line_that_allocated_what_grew_is_named_where_that_was_recorded(tmp_path: Path) -> None:
    """Measured: it goes before the line at which the main thread stood."""
    recorded = allocated((7, [n * MB for n in range(50)]), (8, [5 * MB] * 50))
    (claim,) = claims(GROWING["evenly"], tmp_path, **recorded)

    assert claim.line == ("train.py", 7)
    told = "of 33 MB that grew among what memray recorded, these allocated most: train.py:7 33 MB (100 %)"
    assert told in claim.sentence.before


def claim_on(script: str, hits: dict[int, int | None], folder: Path, **tables: Any) -> Any:
    """The claim on a run of this script in which a megabyte more was there with each sample."""
    lines = [
        {"file": "train.py", "function": "f", "first_line": 1, "line": line, "hits": count, "time_ns": 1, "source": ""}
        for line, count in hits.items()
    ]
    run = over_training(GROWING["evenly"], folder / "r", **{**STANDING, "lines": lines, **tables})
    kept = run.folder.source_path("train.py")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(script)
    (claim,) = memory_growth.look(Case(run))
    return claim


def test_a_line_that_keeps_numbers_is_not_named_beside_one_that_may_keep_anything(tmp_path: Path) -> None:
    """30 numbers are no part of 75 MB."""
    script = "for e in range(30):\n seen.append(loss.item())\n preds[e] = net(x)\n"
    claim = claim_on(script, {1: 31, 2: 30, 3: 30}, tmp_path)

    assert claim.line == ("train.py", 3)
    assert claim.sentence.before.endswith(
        "lines that keep something each time they run: train.py:3 fills `preds` (30 times)"
    )


def test_of_several_lines_that_may_keep_it_none_is_the_finding_s(tmp_path: Path) -> None:
    """All are told; where the main thread stood is no better place."""
    claim = claim_on("for e in range(30):\n a.append(f(e))\n b[e] = g(e)\n", {1: 31, 2: 30, 3: 30}, tmp_path)

    assert claim.line is None
    assert claim.sentence.before.endswith(
        "any of these lines may keep it, which add something each time they run: train.py:2 adds to `a` (30 times); "
        "train.py:3 fills `b` (30 times)"
    )


EPOCHS = "for e in range(5):\n for x in data:\n  a.append(f(x))\n b.append(g())\n"
SHAPES = {
    "in stairs": ([20 * MB * (n // 20) for n in range(100)], ("train.py", 4)),
    "all the time": ([n * MB for n in range(100)], ("train.py", 3)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_line_of_each_epoch_or_of_each_step_is_named_by_how_memory_grew(shape: str, tmp_path: Path) -> None:
    """By five stairs of 20 MB, or by a megabyte between any two samples."""
    own, line = SHAPES[shape]
    claim = claim_on(EPOCHS, {1: 6, 2: 505, 3: 500, 4: 8}, tmp_path, **training(own))

    assert claim.line == line


def test_where_samples_are_too_far_apart_for_that_none_of_both_is_named(tmp_path: Path) -> None:
    """50 epochs in a hundred samples: each may have been a stair."""
    claim = claim_on(EPOCHS, {1: 51, 2: 550, 3: 500, 4: 50}, tmp_path)

    assert claim.line is None
    assert "any of these lines may keep it" in claim.sentence.before


def test_a_queue_that_another_thread_fills_is_named_and_the_main_thread_s_line_is_not(tmp_path: Path) -> None:
    """The main thread stands in its step, whoever takes memory."""
    script = "q = queue.Queue()\ndef fill():\n while True:\n  q.put(make())\n"
    other = {"thread_id": 2, "thread": "Thread-1 (fill)", "start_ns": 2 * runs.S, "dur_ns": runs.S, "stack_id": 31}
    frames = [*STANDING["frames"], {"stack_id": 31, "depth": 0, "function": "fill", "file": "train.py", "line": 3}]
    claim = claim_on(script, {1: 1}, tmp_path, stacks=[*STANDING["stacks"], other], frames=frames)

    assert claim.line == ("train.py", 4)
    assert "train.py:4 adds to `q`, a queue without a limit, on another thread" in claim.sentence.before
    assert "train.py:30" not in claim.sentence.before
    assert claim.next_step.startswith("Give the queue a limit (queue.Queue(maxsize=...))")


def test_what_is_left_is_counted_to_the_nearest_limit(tmp_path: Path) -> None:
    """20 MB of the address space, at 200 kB a step, though the machine has more."""
    own = GROWING["evenly"]
    machine = [{"time_ns": 2 * runs.S, "interval_ns": 1, "limit_address_space_bytes": 219 * MB}]
    samples = training(own)["process_samples"]
    samples[-1]["address_space_bytes"] = 199 * MB
    (claim,) = claims(own, tmp_path, machine=machine, process_samples=samples)

    assert "; at this rate 219 MB of its address space are full after 100 more" in claim.sentence.before


def test_few_samples_on_one_line_are_enough_and_make_it_less_sure(tmp_path: Path) -> None:
    """Ten of 40 MB more each."""
    (few,) = claims([n * 40 * MB for n in range(10)], tmp_path / "few")
    (many,) = claims([n * 4 * MB for n in range(100)], tmp_path / "many")

    assert (few.support.covered, many.support.covered) == (pytest.approx(0.5, abs=0.1), 1.0)


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_run_is_silent(name: str, tmp_path: Path) -> None:
    """Whatever its memory does besides."""
    assert claims(CLEAN[name], tmp_path) == []


def test_the_finding_has_the_slope_and_is_told_without_time(tmp_path: Path) -> None:
    """20 steps for each sample of 1 MB more: 200 kB a step."""
    run = over_training(GROWING["evenly"], tmp_path / "r", **STANDING)
    finding = next(one for one in diagnose.diagnose(run).findings if one.slug == "memory-growth")

    assert finding.claim.startswith("Memory of the process grew by 200 kB with each step (95 %: 200 kB to 200 kB): ")
    assert "100 % of it while the main thread stood at train.py:30 in fit.steps" in finding.claim
    assert (finding.at_stake_ns, finding.share) == (0, 0.0)


def test_pages_of_a_file_that_is_mapped_are_no_growth(tmp_path: Path) -> None:
    """They can be had back at any time."""
    samples = [
        {"pid": 42, "time_ns": 2_000_000_000 + n * 50_000_000, "interval_ns": 1, "rss_bytes": (300 + n) * MB,
         "anonymous_bytes": 300 * MB, "file_bytes": n * MB, "shared_bytes": 0, "swap_bytes": 0}
        for n in range(100)
    ]  # fmt: skip

    assert claims([MB] * 100, tmp_path, process_samples=samples) == []


def test_too_short_a_training_abstains(tmp_path: Path) -> None:
    """It does not say that nothing grows."""
    with pytest.raises(Abstain, match="fewer than 16 samples"):
        claims([MB] * 10, tmp_path)


def test_a_process_below_that_grows_is_told_apart(tmp_path: Path) -> None:
    """A loader's worker keeps what it has read; the traced process stays as it is."""
    samples = [
        {"pid": pid, "time_ns": 2_000_000_000 + n * 50_000_000, "interval_ns": 1, "rss_bytes": rss, "anonymous_bytes": rss,
         "file_bytes": 0, "shared_bytes": 0, "swap_bytes": 0}
        for n in range(100)
        for pid, rss in ((42, 300 * MB), (43, (50 + n) * MB))
    ]  # fmt: skip

    (claim,) = claims([MB] * 100, tmp_path, process_samples=samples)

    assert claim.sentence.before.startswith("Memory of processes below it grew by 200 kB with each step")
    assert claim.line is None
