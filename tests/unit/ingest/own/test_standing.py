"""For how long sampled stacks stood, where the program is known to have gone on."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from dlprof.ingest.own.standing import Part, Progress, Row, Segment, parts, progress
from dlprof.ingest.parse.sampled_stacks import Frame
from tests.unit.runs import MS, S, table

MAIN = Frame("<module>", "train.py", 30)
FORWARD = (MAIN, Frame("main", "train.py", 11))
BACKWARD = (MAIN, Frame("main", "train.py", 12))
STACKS = {0: FORWARD, 1: BACKWARD, 2: (Frame("<module>", "train.py", 31),)}


def known(*segments: Segment, phases: list[tuple[str, int, int]] | None = None, steps: Any = ()) -> Progress:
    """How the main thread went on: phases with begin and end (ms), steps of one loop (ms)."""
    intervals = [
        {"phase": phase, "start_ns": start * MS, "dur_ns": (end - start) * MS} for phase, start, end in phases or []
    ]
    begun = [{"thread_id": 1, "loop_id": 7, "start_ns": int(at * MS)} for at in steps]
    found = progress(segments or (Segment(0, 20.0),), table("phase_intervals", intervals), [table("steps", begun)], 1)
    assert found is not None
    return found


def rows(*told: tuple[int, int, int]) -> list[Row]:
    """Stack, start and end (ms) of each row."""
    return [Row(stack, start * MS, (end - start) * MS) for stack, start, end in told]


def test_nothing_is_known_of_a_run_without_stacks() -> None:
    """There is no segment."""
    assert progress((), None, (pa.table({}) for _ in ()), None) is None


def test_a_stack_stands_in_the_phase_in_which_it_was_seen() -> None:
    """It was seen 200 ms before the loop ended, and py-spy's next sample came 120 ms after that."""
    found = parts(rows((0, 800, 1120)), known(phases=[("fit.steps", 500, 1000), ("teardown", 1000, 2000)]), STACKS)

    assert found == [Part(200 * MS, 4.0, 0, 120 * MS)]


def test_what_dlprof_interrupts_goes_on_behind_it() -> None:
    """The stack was seen while dlprof ran, and a phase of the same kind is there again after another."""
    phases = [("fit.steps", 0, 100), ("dlprof", 100, 120), ("fit.steps", 120, 200), ("import", 200, 250)]

    (part,) = parts(rows((0, 110, 400)), known(phases=[*phases, ("fit.input", 250, 300)]), STACKS)

    assert part.dur_ns == 130 * MS


def test_what_is_left_of_a_stack_is_of_the_frames_that_the_next_one_has_too() -> None:
    """The line of `main` ended with the phase; the line that calls `main` stands on."""
    found = parts(rows((0, 0, 300), (1, 300, 400)), known(phases=[("script", 0, 100), ("fit", 100, 400)]), STACKS)

    assert found == [Part(100 * MS, 2.0, 1, 200 * MS), Part(100 * MS, 2.0, 0, 0)]


def test_a_stack_that_stands_is_as_many_samples_as_were_due_at_its_own_rate() -> None:
    """1 s at 20 Hz and 1 s at 100 Hz; nothing is known to have gone on."""
    at_rates = known(Segment(0, 20.0), Segment(S, 100.0))

    assert [part.samples for part in parts(rows((0, 0, 1000), (1, 1000, 2000)), at_rates, STACKS)] == [20.0, 100.0]


def test_a_stack_of_steps_that_follow_fast_is_one_sample_however_long_it_seems_to_stand() -> None:
    """Ten rows in turn, of which one seems to stand for 200 ms, over 20 steps: it is one of ten, or of few more."""
    told = [(0, 0, 200), *((n % 2, 150 + 50 * n, 200 + 50 * n) for n in range(1, 10))]

    found = parts(rows(*told), known(steps=range(0, 650, 10)), STACKS)

    assert [part.samples for part in found] == [1.0] * 10
    assert [part.dur_ns // MS for part in found[:3]] == [133, 53, 62]
    assert sum(part.dur_ns for part in found) // MS == 650


def test_a_stack_that_all_samples_of_a_loop_show_has_all_of_its_time() -> None:
    """Its only row is 10 s long, over a thousand steps: it is no sample that came late."""
    found = parts(rows((0, 0, 10_000)), known(steps=range(0, 10_000, 10)), STACKS)

    assert found == [Part(10 * S, 197.0, 0, 0)]


def test_where_samples_were_lost_one_stands_for_no_more_than_half_as_much_again() -> None:
    """Two samples a second apart where twenty were due: the calling line has what is left of both."""
    found = parts(rows((0, 0, 1000), (1, 1000, 2000)), known(Segment(0, 2.0), steps=range(0, 2000, 10)), STACKS)
    lost = parts(rows((0, 0, 1000), (1, 1000, 2000)), known(Segment(0, 200.0), steps=range(0, 2000, 10)), STACKS)

    assert [part.dur_ns for part in found] == [1000 * MS, 1000 * MS]
    assert [(part.dur_ns, part.depth) for part in lost] == [(757_500_000, 1), (757_500_000, 0)]


def test_the_few_samples_of_a_loop_at_a_low_rate_count_as_much_as_those_at_a_high_one() -> None:
    """Two of 20 Hz, both of one line, before sixty of 100 Hz, a third of them of the other."""
    slow, fast = [(0, 0, 100), (1, 100, 110), (0, 110, 210)], [(n % 2, 210 + 10 * n, 220 + 10 * n) for n in range(60)]
    at_rates = known(Segment(0, 20.0), Segment(210 * MS, 100.0), steps=range(0, 1000, 5))

    found = parts(rows(*slow, *fast), at_rates, STACKS)

    assert found[0].dur_ns < 30 * MS
    assert round(sum(part.dur_ns for part in found) / MS) == 810
