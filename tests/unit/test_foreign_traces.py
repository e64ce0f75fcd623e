"""Every foreign trace that tests have, through every command that looks at a run.

With DLPROF_TRACES, a folder of more traces, these go through all of them as well.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlprof.errors import DlprofError
from dlprof.export.formats import FORMATS
from dlprof.pipeline import importing
from tests.unit.ingest.imports import DATA
from tests.unit.runs import dlprof

MORE = os.environ.get("DLPROF_TRACES")
NO_TRACES = {".md", ".tsv", ".txt.license"}
SLOW = 400_000
"""Files of more bytes take seconds."""

OK, USAGE, NO_INPUT = 0, 2, 3
REFUSALS = (
    "holds sums without times",
    "has no line counts",
    "has no sampled stacks",
    "no kernels",
    "nothing to",
)
"""What a command may say of a trace that has nothing of what it shows; each is the beginning of a whole sentence."""


def _files() -> Iterator[Path]:
    yield from (path for path in sorted(DATA.iterdir()) if path.suffix not in NO_TRACES)
    if MORE:
        folder = Path(MORE)
        yield from (
            path
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.parent != folder and path.suffix not in NO_TRACES
        )


def _parameter(path: Path) -> object:
    marks = [pytest.mark.slow] if path.stat().st_size > SLOW or not path.is_relative_to(DATA) else []
    return pytest.param(path, id=path.name, marks=marks)


@pytest.fixture(scope="module", params=[_parameter(path) for path in _files()])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is made of one file."""
    path = tmp_path_factory.mktemp("traces") / "run"
    try:
        importing.import_files([request.param], path, reader=None, report=lambda _line: None)
    except DlprofError as error:
        pytest.skip(f"it holds nothing: {error}")
    return path


COMMANDS = (
    ("report",),
    ("report", "--json"),
    ("report", "--html", "OUT.html"),
    ("diagnose",),
    ("diagnose", "--json"),
    ("compare", "RUN"),
    ("compare", "RUN", "--json"),
    ("gate", "RUN"),
    ("lines",),
    ("kernels",),
    *(("export", "--to", name, "-o", "OUT") for name in FORMATS),
)
