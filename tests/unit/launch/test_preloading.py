"""Modules that are loaded while a script runs."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from dlprof.launch.preloading import Preloading

S = 1_000_000_000


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that nobody has loaded."""
    (tmp_path / "needed_at_the_end.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "needed_at_the_end", raising=False)
    return "needed_at_the_end"


def test_they_are_loaded_when_the_script_has_run_for_a_while(module: str) -> None:
    """One that cannot be loaded is passed over."""
    preloading = Preloading(("no_such_module", module))
    preloading.tick(time.perf_counter_ns() - S)
    thread = preloading._thread
    assert thread is not None
    thread.join()

    assert module in sys.modules


def test_a_script_that_is_over_at_once_is_not_met_by_them(module: str) -> None:
    """Its end is seen when it comes."""
    preloading = Preloading((module,))
    preloading.tick(time.perf_counter_ns())
    preloading.wait()

    assert module not in sys.modules


def test_nothing_is_loaded_while_a_process_is_started(module: str) -> None:
    """A child that is forked meanwhile would have a lock that nobody releases."""
    preloading = Preloading((module,))
    with preloading.between():
        preloading.tick(time.perf_counter_ns() - S)
        time.sleep(0.05)
        assert module not in sys.modules
