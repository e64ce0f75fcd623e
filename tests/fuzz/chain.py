"""What an input goes through: the reader and the tables, and for a share of them a whole import, its reports and its page."""

from __future__ import annotations

import contextlib
import io
import json
import math
import shutil
from pathlib import Path

from dlprof.analysis.findings.diagnose import brief, diagnose
from dlprof.errors import DlprofError, UsageError
from dlprof.ingest import limits
from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.formats import registry
from dlprof.ingest.formats.base import Reader
from dlprof.ingest.kernels import assemble
from dlprof.ingest.kernels.context import TraceContext
from dlprof.pipeline import importing
from dlprof.report import summary, text
from dlprof.report.html import run_page
from dlprof.report.json_text import print_json
from dlprof.store.run import Run

MEMORY_BYTES = 256 << 20
LIMITS = limits.Limits.of_memory(MEMORY_BYTES)
_HIDDEN = "damaged, or of an unknown version of "
"""So begins what `registry.read` makes of an exception that the reader should have told as its own error."""


class HiddenError(Exception):
    """An exception that a reader did not turn into its own error, and the registry did."""


def through_reader(path: Path, reader: Reader) -> str:
    """Read a file, and make tables of it: `read` or `refused`.

    Raises:
        HiddenError: The reader let an exception out that is not its own.
    """
    try:
        with limits.applied(LIMITS, path):
            content = registry.read(path, reader)
            if content.trace is not None:
                assembly = assemble.Assembly()
                assembly.add(content.trace, TraceContext(ProcessId("host", 0, 1, 0), 0, 0))
                assembly.tables()
    except ArtifactError as error:
        if _HIDDEN in error.message:
            raise HiddenError(error.message) from error.__cause__
        return "refused"
    return "read"


def through_all(path: Path, folder: Path) -> str:
    """Import a file as a user would, and print its reports and its page: `read` or `refused`."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        run = importing.import_files([path], folder, reader=None, report=lambda _line: None, limits=LIMITS)
    except DlprofError as error:
        if _HIDDEN in error.message:
            raise HiddenError(error.message) from error.__cause__
        return "refused"
    reported(run)
    return "read"


def reported(run: Run) -> None:
    """Print a run in every way; a page that cannot be made raises."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        print_json(summary.summarise(run, top=10, diagnosis=brief(run, within_s=math.inf)))
        json.loads(told.getvalue())
        text.print_report(run, file=told)
        text.print_answer(run, file=told)
    told.getvalue().encode()
    _page(run).encode()


def _page(run: Run) -> str:
    try:
        found = diagnose(run)
    except UsageError as error:  # as `dlprof view` does
        return run_page.make(run, None, error.message)
    return run_page.make(run, found)
