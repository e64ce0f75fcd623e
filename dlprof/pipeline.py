"""Joins the stages: launch, ingest, store, analysis. The only place that knows two of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof import rundir
from dlprof.analysis import phases as phase_analysis
from dlprof.ingest import cores as cores_reader
from dlprof.ingest import gpu as gpu_reader
from dlprof.ingest import lines as lines_reader
from dlprof.ingest import stacks as stacks_reader
from dlprof.ingest import wire as wire_reader
from dlprof.ingest.base import ArtifactError, Health, Who
from dlprof.ingest.names import FileNames
from dlprof.rundir import RunDir
from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from dlprof.store.run import Run
from dlprof.store.writer import write_tables


def open_run(text: str, *, rebuild: bool = False) -> Run:
    """Open the run that the user names; its tables are made first if they are missing or old.

    Args:
        text: Path or name of a run folder, or `last`.
        rebuild: Make the tables anew from the raw artifacts.

    Raises:
        NoInputError: There is no such run.
        BadDataError: It is damaged or of a newer dlprof.
    """
    folder = rundir.resolve(text)
    manifest = folder.read_manifest()
    if rebuild or manifest.get("tables_version", 0) < SCHEMA_VERSION:
        ingest(folder)
    return Run(folder)
