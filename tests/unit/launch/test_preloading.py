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


def test_with_a_core_of_their_own_they_are_loaded_at_once(module: str) -> None:
    """The script has another one."""
    preloading = Preloading((module,), cores=2)
    preloading.tick(time.perf_counter_ns() - 1)
    assert preloading._thread is not None
    preloading._thread.join()

    assert module in sys.modules


def test_loading_leaves_the_switch_interval_of_threads_as_it_was(module: str) -> None:
    """It is short only while modules are loaded."""
    before = sys.getswitchinterval()
    preloading = Preloading((module,), cores=2)
    preloading.tick(time.perf_counter_ns() - S)
    preloading.wait()

    assert sys.getswitchinterval() == before


def test_with_one_core_alone_a_short_script_is_not_met_by_them(module: str) -> None:
    """It would have to share the core with them."""
    preloading = Preloading((module,), cores=1)
    preloading.tick(time.perf_counter_ns())
    preloading.wait()

    assert module not in sys.modules
