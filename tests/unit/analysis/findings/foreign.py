"""Diagnoses of real foreign traces, each read once."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.pipeline.importing import import_files

DATA = Path(__file__).parents[3] / "data" / "traces"
SHARED = Path(os.environ.get("DLPROF_SHARED_TRACES", "/nowhere"))
"""Traces that are too large to be kept here; tests of them are skipped where the variable names no folder."""


def diagnosed(name: str) -> Diagnosis:
    """What the rules say of a trace of tests/data, or with a folder in its name, of the shared ones."""
    path = SHARED / name if "/" in name else DATA / name
    if not path.is_file():
        pytest.skip(f"DLPROF_SHARED_TRACES names no folder with {name}")
    return _diagnosed(path)


@cache
def _diagnosed(path: Path) -> Diagnosis:
    with tempfile.TemporaryDirectory() as folder:
        return diagnose.diagnose(import_files([path], Path(folder) / "run", reader=None, report=lambda _: None))


def found(name: str, slug: str) -> Finding | None:
    """The finding of a rule on a trace; None: it has none."""
    return next((finding for finding in diagnosed(name).findings if finding.slug == slug), None)


def abstained(name: str, slug: str) -> str | None:
    """Why a rule could not tell; None: it could."""
    return next((one.because for one in diagnosed(name).abstained if one.slug == slug), None)
