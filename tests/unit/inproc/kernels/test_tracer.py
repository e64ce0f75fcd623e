"""What the tracers of all engines have in common."""

from __future__ import annotations

import io
import os
import sys

import pytest
from dlprof_probes.inproc.kernels.tracer import Tracer, quiet


def test_a_tracer_that_says_nothing_else_waits_for_nothing() -> None:
    """It has no ranges, the wall clock, and windows."""
    tracer = Tracer()

    assert (tracer.drain(), tracer.annotation("text")) == (None, None)
    assert (tracer.zero_ns, tracer.whole_run) == (None, False)


def test_what_tracers_say_of_themselves_is_kept_from_the_user(capfd: pytest.CaptureFixture[str]) -> None:
    """All other lines come right after."""
    with quiet():
        os.write(2, b"2024 profiler_session.cc:101 Profiler session initializing.\nof the user's own\n")
        os.write(2, b"[W kineto_shim.cpp] ActivityProfiler\n")
        os.write(2, b"ERROR: External init callback must run in same thread as registerClient (12 != -3)\n")

    assert capfd.readouterr().err == "of the user's own\n"


def test_standard_error_is_its_own_again_after_a_failure(capfd: pytest.CaptureFixture[str]) -> None:
    """Of what was to be quiet."""
    with pytest.raises(ZeroDivisionError), quiet():
        1 // 0  # noqa: B018
    os.write(2, b"again\n")

    assert capfd.readouterr().err == "again\n"


def test_a_program_without_standard_error_is_not_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have closed it, or put something else in its place."""
    monkeypatch.setattr(sys, "stderr", None)
    with quiet():
        pass
    theirs = io.StringIO()
    monkeypatch.setattr(sys, "stderr", theirs)
    with quiet():
        theirs.write("text")

    assert theirs.getvalue() == "text"
