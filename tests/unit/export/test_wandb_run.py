"""A run for Weights & Biases: where that is not installed. Sending is tried with the real one (integration)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dlprof.errors import UnavailableError
from dlprof.export import wandb_run
from tests.unit.runs import make, manifest


def test_the_extra_is_named_where_it_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is none of dlprof's own dependencies."""
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UnavailableError, match="is not installed") as raised:
        wandb_run.send(make(tmp_path / "r", manifest()), None)

    assert raised.value.hint == "pip install 'dlprof[wandb]'"
