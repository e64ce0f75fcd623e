"""Ends by a signal, in words."""

from __future__ import annotations

import pytest

from dlprof.report import end_words


@pytest.mark.parametrize(
    ("number", "words", "short"),
    [
        (2, "interrupted (Ctrl-C)", "interrupted"),
        (15, "terminated (SIGTERM)", "terminated"),
        (9, "killed (SIGKILL)", "killed"),
        (11, "ended by SIGSEGV", "SIGSEGV"),
        (40, "ended by signal 40", "signal 40"),
    ],
)
def test_an_end_by_a_signal_has_a_word(number: int, words: str, short: str) -> None:
    """Nobody has to know numbers of signals; one without a name keeps its number."""
    assert (end_words.by_signal(number), end_words.in_short(number)) == (words, short)
