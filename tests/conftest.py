"""Fixtures for all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the developer's own shell reaches a test."""
    for name in list(os.environ):
        if name.startswith(("DLPROF_", "KERAS_")) and name != "DLPROF_DATA":
            monkeypatch.delenv(name)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")


@pytest.fixture(autouse=True, scope="session")
def signals_as_at_a_terminal() -> None:
    """Started in the background, or under nohup, the tests and their children would ignore these for good."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def scenarios() -> Path:
    """Folder of the scenarios."""
    return ROOT / "scenarios"
