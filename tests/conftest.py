"""Fixtures for all tests."""

from __future__ import annotations

import os
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


@pytest.fixture
def scenarios() -> Path:
    """Folder of the scenarios."""
    return ROOT / "scenarios"
