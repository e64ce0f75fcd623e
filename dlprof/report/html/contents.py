"""What a page holds that is not for everybody, said on it before it is sent away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow.compute as pc

from dlprof.redaction import HIDDEN
from dlprof.store.run import Run


def private(runs: Sequence[Run], *, sources: bool = True) -> tuple[str, ...]:
    """Parts of runs that tell where, by whom or of what text they were made; empty where `dlprof redact` took them out.

    Args:
        runs: The runs of the page.
        sources: Whether the page shows lines of source.
    """
    return tuple(dict.fromkeys(part for run in runs for part in _of(run, sources=sources)))


def _of(run: Run, *, sources: bool) -> Iterator[str]:
    files = _source_files(run) if sources else 0
    if files:
        yield f"lines of {files:,} source file{'s' if files > 1 else ''}"
    if any(word != HIDDEN for word in run.manifest.command.argv):
        yield "arguments of the script"
    if run.manifest.machine.host and run.manifest.script_folder:
        yield f"the machine's name ({run.manifest.machine.host})"


def _source_files(run: Run) -> int:
    """Files whose lines a page can show: of their copies, or of the table itself."""
    lines = run.table("lines")
    copied = run.folder.raw / "sources"
    names = lines["file"] if copied.is_dir() else lines["file"].filter(pc.is_valid(lines["source"]))
    return len(pc.unique(names))
