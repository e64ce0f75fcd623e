"""A run for MLflow: where that is not installed, or refuses. Sending is tried with the real one (integration)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dlprof.errors import UnavailableError
from dlprof.export import mlflow_run
from tests.unit.runs import S, make, manifest


def test_the_extra_is_named_where_it_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is none of dlprof's own dependencies."""
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(UnavailableError, match="is not installed") as raised:
        mlflow_run.send(make(tmp_path / "r", manifest()), None)

    assert raised.value.hint == "pip install 'dlprof[mlflow]'"


class UnsupportedStoreError(Exception):
    """As MLflow has of models and of runs, for an address that it has no store for."""


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (
            UnsupportedStoreError("got unsupported URI 'sqlite:///m.db'"),
            "The client of MLflow that is installed has no store for sqlite:///m.db.",
            "-o http://HOST:5000 of a server, or pip install mlflow: mlflow-skinny knows no databases",
        ),
        (
            ModuleNotFoundError("No module named 'sqlalchemy'"),
            "The client of MLflow that is installed has no store for sqlite:///m.db.",
            "-o http://HOST:5000 of a server, or pip install mlflow: mlflow-skinny knows no databases",
        ),
        (
            Exception("Max retries exceeded with url: /api"),
            "MLflow does not answer at sqlite:///m.db.",
            "is MLFLOW_TRACKING_URI, or -o, right?",
        ),
        (Exception("\nNo.\nMore"), "MLflow refused the run: No.", "is MLFLOW_TRACKING_URI, or -o, right?"),
    ],
)
def test_what_mlflow_refuses_is_told_with_what_to_do(error: Exception, message: str, hint: str) -> None:
    """In a sentence, not as an internal error."""
    told = mlflow_run._refused(error, "sqlite:///m.db")

    assert (told.message, told.hint) == (message, hint)


def test_a_folder_needs_a_word_from_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MLflow refuses one as soon as it is asked for a client; with that word it takes the run."""
    pytest.importorskip("mlflow")
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE", raising=False)
    run = make(tmp_path / "r", manifest(clock={"origin_wall_ns": 1_700_000_000 * S, "time_zone": "UTC"}))
    with pytest.raises(UnavailableError, match="MLflow does not write to a folder") as raised:
        mlflow_run.send(run, (tmp_path / "store").as_uri())
    assert raised.value.hint == "set MLFLOW_ALLOW_FILE_STORE=true, or -o http://HOST:5000 of a server"

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    assert " of experiment " in mlflow_run.send(run, (tmp_path / "store").as_uri())
