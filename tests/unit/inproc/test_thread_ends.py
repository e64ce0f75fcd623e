"""A thread that was watched tells of its end itself, before anyone who joins it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from threading import get_ident

from dlprof_probes.inproc.thread_ends import ThreadEnds, is_waited_for, others_are_waited_for


def in_thread(work: Callable[[], object], **more: bool) -> None:
    """Run that on a thread of its own, to its end."""
    thread = threading.Thread(target=work, **more)  # type: ignore[arg-type]
    thread.start()
    thread.join()


def test_the_end_of_a_thread_is_told_once_on_it() -> None:
    """With its number, before `join` returns; the program's list of threads is as before."""
    ends, told, before = ThreadEnds(), [], set(vars(threading)["_active"])
    ends.ended = lambda ident: told.append(ident == get_ident())

    def work() -> None:
        ends.watch()
        ends.watch()
        assert told == []

    in_thread(work)
    assert told == [True]
    assert set(vars(threading)["_active"]) == before


def test_what_fails_at_the_end_of_a_thread_is_not_seen() -> None:
    """Python would print it on the program's standard error."""
    ends, seen = ThreadEnds(), []
    before, ends.ended = threading.excepthook, lambda _ident: seen.append(1 // 0)
    threading.excepthook = lambda _args: seen.append(2)
    try:
        in_thread(ends.watch)
    finally:
        threading.excepthook = before

    assert seen == []


def test_the_main_thread_and_a_forked_child_tell_of_no_end() -> None:
    """The end of the main one is that of the process."""
    ends = ThreadEnds()
    told: list[int] = []
    ends.ended = told.append
    ends.watch()
    assert not hasattr(ends._kept, "end")

    def work() -> None:
        ends.watch()
        ends.forget()

    in_thread(work)
    assert told == []


def test_python_waits_for_threads_that_are_no_daemons() -> None:
    """Also for the main one; not for those that it does not know of."""
    told: list[bool] = [is_waited_for(), others_are_waited_for()]
    for daemon in (False, True):
        in_thread(lambda: told.append(is_waited_for()), daemon=daemon)
    known = vars(threading)["_active"]

    def unknown() -> None:
        kept = known.pop(get_ident())
        told.append(is_waited_for())
        known[get_ident()] = kept

    in_thread(unknown)
    in_thread(lambda: told.append(others_are_waited_for()))
    assert told == [True, False, True, False, False, True]
