"""Threads of our own."""

from __future__ import annotations

import signal
from threading import Event, get_ident

from dlprof_probes.inproc import own_threads


def test_a_thread_of_ours_takes_no_signal_and_the_program_those_it_took_before() -> None:
    """Its mask has all that can be blocked; that of the thread which starts it is as it was."""
    before, masks, done = signal.pthread_sigmask(signal.SIG_BLOCK, ()), {}, Event()

    def look() -> None:
        masks[get_ident()] = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        done.set()

    own_threads.start(look)
    assert done.wait(10)

    [(ours, mask)] = masks.items()
    assert ours != get_ident()
    assert {signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM, signal.SIGRTMIN} <= mask
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
