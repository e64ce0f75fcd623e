"""Stacks that py-spy read in part."""

from __future__ import annotations

from dlprof.ingest.own.torn_stacks import WholeStacks
from dlprof.ingest.parse.sampled_stacks import Frame, SampledThread, StackInterval

MAIN = SampledThread(7, "MainThread", 42)
SCRIPT = "train.py"


def frames(*places: tuple[str, int]) -> tuple[Frame, ...]:
    """Functions and their lines, outermost first; `module` is the script's own."""
    return tuple(Frame(function, SCRIPT if function == "module" else "engine.py", line) for function, line in places)


STEP = frames(("module", 10), ("call", 1), ("run", 5))
UPDATE = frames(("module", 20), ("assign", 2), ("multiply", 3), ("run", 5))


def told(*stacks: tuple[Frame, ...], thread: SampledThread = MAIN) -> list[StackInterval]:
    """Stacks one after the other, 10 us each."""
    return [StackInterval(thread, 10.0 * at, 10.0 * at + 10, stack) for at, stack in enumerate(stacks)]


def test_a_stack_in_part_gets_what_is_around_its_outermost_frame() -> None:
    """And is counted; whole ones stay."""
    stacks, torn = WholeStacks().complete(told(STEP, UPDATE, UPDATE[2:], STEP))

    assert [one.stack for one in stacks] == [STEP, UPDATE, UPDATE, STEP]
    assert torn == 1


def test_of_several_places_the_nearest_in_time_is_taken() -> None:
    """`run` is called by both."""
    stacks, _ = WholeStacks().complete(told(STEP, STEP, STEP[2:], UPDATE, UPDATE[3:], UPDATE, STEP))

    assert [one.stack[0].line for one in stacks] == [10, 10, 10, 20, 20, 20, 10]


def test_of_a_line_that_no_whole_stack_has_its_function_tells() -> None:
    """What is around a function does not hang on where in it the thread stands."""
    stacks, torn = WholeStacks().complete(told(STEP, UPDATE, frames(("multiply", 99), ("other", 1))))

    assert stacks[2].stack == (*UPDATE[:2], *frames(("multiply", 99), ("other", 1)))
    assert torn == 1


def test_what_no_whole_stack_explains_stays_as_it_is() -> None:
    """Functions that nothing else had, and threads that begin in more than one way."""
    begun = frames(("hook", 1), ("run", 5))
    alone = frames(("strange", 1))

    stacks, torn = WholeStacks().complete(told(STEP, UPDATE, begun, begun, begun, alone))

    assert [one.stack for one in stacks] == [STEP, UPDATE, begun, begun, begun, alone]
    assert torn == 0


def test_a_function_that_calls_itself_is_where_it_was_called_first() -> None:
    """How much of a recursion was read is not known."""
    deep = frames(("module", 10), ("walk", 1), ("walk", 1), ("walk", 1), ("leaf", 2))

    stacks, _ = WholeStacks().complete(told(deep, deep, deep[3:]))

    assert stacks[2].stack == (deep[0], *deep[3:])


def test_threads_do_not_explain_each_other() -> None:
    """Nor does one of another process with the same number."""
    others = [SampledThread(8, "loader", 42), SampledThread(7, "MainThread", 43)]

    found = [WholeStacks().complete([*told(STEP, UPDATE), *told(UPDATE[2:], thread=one)]) for one in others]

    assert [(stacks[2].stack, torn) for stacks, torn in found] == [(UPDATE[2:], 0), (UPDATE[2:], 0)]


def test_what_this_segment_does_not_explain_an_earlier_one_does() -> None:
    """Segments of one sample a second have few whole stacks; where threads begin is known from before, too."""
    whole = WholeStacks()
    whole.complete(told(STEP, STEP, UPDATE))

    stacks, torn = whole.complete(told(UPDATE[2:], UPDATE[2:], STEP))

    assert [one.stack for one in stacks] == [UPDATE, UPDATE, STEP]
    assert torn == 2


def test_what_this_segment_explains_is_not_taken_from_an_earlier_one() -> None:
    """Its own stacks are nearer in time."""
    whole = WholeStacks()
    whole.complete(told(UPDATE))

    stacks, _ = whole.complete(told(STEP, STEP[2:]))

    assert [one.stack for one in stacks] == [STEP, STEP]
