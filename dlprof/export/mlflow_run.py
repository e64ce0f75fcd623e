"""A run as one of MLflow, through its own client: a server, a database, whatever its tracking URI names."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dlprof.errors import UnavailableError
from dlprof.export import tracked
from dlprof.export.tracked import Tracked
from dlprof.store.run import Run
from dlprof.units import safe

if TYPE_CHECKING:  # large, and an extra
    import mlflow

_KEY = "dlprof.run"
"""Tag that tells which run it is."""
_METRICS_AT_ONCE, _PARAMETERS_AT_ONCE = 1000, 100
"""Of one request, by MLflow's own limits."""
_PARAMETER_CHARACTERS = 6000
_RIGHT, _SERVER = "is MLFLOW_TRACKING_URI, or -o, right?", "http://HOST:5000 of a server"
_FOLDER = "MLFLOW_ALLOW_FILE_STORE"
"""What MLflow wants to be told before it writes to a folder; its refusal has the name."""
_ILLEGAL = str.maketrans(dict.fromkeys("'\"<>|\\*?[]{}()=+~`!@#$%^&,;", "_"))
"""MLflow takes letters, numbers, `_-. :/` in names."""


def send(run: Run, where: str | None) -> str:
    """Make a run of MLflow of it, in the experiment that is named after the script.

    Args:
        run: The run.
        where: Tracking URI; None: as MLflow is set (`MLFLOW_TRACKING_URI`).

    Returns:
        How much was sent, and to what.

    Raises:
        NoInputError: It is not known when the run was.
        UnavailableError: MLflow is not installed, does not answer or refuses, or it has the run already.
    """
    mlflow = _module()
    told = tracked.of_run(run)
    from mlflow.exceptions import MlflowException  # noqa: PLC0415

    try:
        with contextlib.redirect_stdout(sys.stderr):  # where MLflow says in words of its own where the run is
            made = _sent(mlflow.MlflowClient(tracking_uri=where), told)
    except (MlflowException, OSError, ImportError) as error:
        raise _refused(error, safe(str(where or os.environ.get("MLFLOW_TRACKING_URI", "its tracking URI")))) from error
    return f"{told.said} in run {made} of experiment {told.script}"


def _refused(error: Exception, address: str) -> UnavailableError:
    """What MLflow said, and what to do about it."""
    said = str(error).strip()
    if "Max retries exceeded" in said:
        return UnavailableError(f"MLflow does not answer at {address}.", hint=_RIGHT)
    if isinstance(error, ImportError) or "Unsupported" in type(error).__name__:  # as of a database, without SQLAlchemy
        text = f"The client of MLflow that is installed has no store for {address}."
        return UnavailableError(text, hint=f"-o {_SERVER}, or pip install mlflow: mlflow-skinny knows no databases")
    if _FOLDER in said:
        text = f"MLflow does not write to a folder ({address}) unless it is told that it may."
        return UnavailableError(text, hint=f"set {_FOLDER}=true, or -o {_SERVER}")
    why = safe(said.partition("\n")[0])[:300]
    return UnavailableError(f"MLflow refused the run: {why}", hint=_RIGHT)


def _module() -> ModuleType:
    try:
        import mlflow  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "mlflow":
            raise  # it is installed, and lacks something itself
        raise UnavailableError("MLflow is not installed.", hint="pip install 'dlprof[mlflow]'") from None
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")  # its seven take minutes where nobody answers
    return mlflow


def _sent(client: mlflow.MlflowClient, told: Tracked) -> str:
    experiment = client.get_experiment_by_name(told.script)
    number = experiment.experiment_id if experiment else client.create_experiment(told.script)
    _refuse_twice(client, number, told)
    tags = {_KEY: told.key, "dlprof.verdict": told.verdict, "mlflow.source.name": told.script}
    made = client.create_run(number, start_time=told.began_ms, tags=tags, run_name=told.name).info.run_id
    for metrics in _batches(_metrics(told), _METRICS_AT_ONCE):
        client.log_batch(made, metrics=metrics)
    for parameters in _batches(_parameters(told), _PARAMETERS_AT_ONCE):
        client.log_batch(made, params=parameters)
    with tempfile.TemporaryDirectory(prefix="dlprof-") as folder:
        for name, content in told.files.items():
            path = Path(folder, name)
            path.write_bytes(content)
            client.log_artifact(made, str(path))
    client.set_terminated(made, "FAILED" if told.failed else "FINISHED", end_time=told.ended_ms)
    return str(made)


def _batches(values: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while batch := list(itertools.islice(values, size)):
        yield batch


def _refuse_twice(client: Any, experiment: str, told: Tracked) -> None:
    known = client.search_runs([experiment], f"tags.`{_KEY}` = '{told.key}'", max_results=1)
    if known:
        raise UnavailableError(
            f"MLflow has this run already, as {known[0].info.run_id} of experiment {told.script}.",
            hint="delete that one first, if this is to take its place",
        )


def _metrics(told: Tracked) -> Iterator[Any]:
    from mlflow.entities import Metric  # noqa: PLC0415

    for name, value in told.figures.items():
        yield Metric(name.translate(_ILLEGAL), value, told.ended_ms, 0)
    for one in told.values:
        yield Metric(one.name.translate(_ILLEGAL), one.value, one.time_ms, one.place)


def _parameters(told: Tracked) -> Iterator[Any]:
    from mlflow.entities import Param  # noqa: PLC0415

    for name, value in told.parameters.items():
        yield Param(name.translate(_ILLEGAL), value[:_PARAMETER_CHARACTERS])
