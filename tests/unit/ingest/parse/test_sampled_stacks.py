"""Stacks out of begins and ends of frames."""

from __future__ import annotations

from dlprof.ingest.file_names import FileNames
from dlprof.ingest.parse.sampled_stacks import FrameEvent, ThreadNames, intervals


def stacks(*events: FrameEvent) -> list[tuple[int, float, float, list[str]]]:
    """Number of the thread, from when to when, and functions."""
    found = intervals(events, FileNames("/s"))
    return [(i.thread.number, i.start_us, i.end_us, [frame.function for frame in i.stack]) for i in found]


def test_a_stack_stands_until_an_event_changes_it() -> None:
    """What is no frame of the user's is not in it."""
    assert stacks(
        FrameEvent(1, 9, 0, "B", "thread (77): main"),
        FrameEvent(1, 9, 0, "B", "f", "/s/a.py", 1),
        FrameEvent(1, 9, 5, "B", "_find_and_load", "<frozen importlib._bootstrap>", 2),
        FrameEvent(1, 9, 6, "B", "g", "/s/a.py", 3),
        FrameEvent(1, 9, 8, "E"),
        FrameEvent(1, 9, 9, "E"),
        FrameEvent(1, 9, 10, "E"),
    ) == [(77, 0, 5, ["f"]), (77, 5, 6, ["f"]), (77, 6, 8, ["f", "g"]), (77, 8, 9, ["f"]), (77, 9, 10, ["f"])]


def test_what_stood_before_a_thread_has_another_number_is_the_old_ones() -> None:
    """py-spy's rows of threads are used again."""
    found = []
    for interval in intervals(
        [
            FrameEvent(1, 9, 0, "B", "thread (77)"),
            FrameEvent(1, 9, 0, "B", "f", "/s/a.py", 1),
            FrameEvent(1, 9, 5, "B", "thread (78)"),
            FrameEvent(1, 9, 7, "E"),
        ],
        FileNames("/s"),
    ):
        found.append((interval.thread.number, interval.end_us))

    assert found == [(77, 5), (78, 7)]


def test_a_thread_without_a_name_is_the_main_one_if_it_came_first() -> None:
    """Or if its number is that of the process."""
    names = ThreadNames(process=5)

    assert [names.name(number, None) for number in (9, 8, 5)] == ["MainThread", "thread 8", "MainThread"]
    assert names.name(9, "worker") == "worker"


def test_what_follows_pythons_below_a_program_is_no_code_of_theirs() -> None:
    """A copy of it lies in the run's folder; who else has such a file is shown."""
    run = "/s/dlprof_runs/r"
    assert stacks(
        FrameEvent(1, 9, 0, "B", "main", "/s/a.py", 1),
        FrameEvent(1, 9, 0, "B", "_begins", f"{run}/payload/follow/sitecustomize.py", 87),
        FrameEvent(1, 9, 0, "B", "own", f"{run}/payload/follow-workers/dlprof_pass_on.py", 3),
        FrameEvent(1, 9, 0, "B", "theirs", "/s/src/sitecustomize.py", 3),
        FrameEvent(1, 9, 5, "E"),
    ) == [(0, 0, 5, ["main", "theirs"])]
