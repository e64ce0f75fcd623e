"""Lines of the user's that made kernels."""

from __future__ import annotations

from collections.abc import Sequence

from dlprof.analysis.kernel_rows import Row
from dlprof.store.run import Run


def are_known(run: Run) -> bool:
    """Whether a trace tells the lines of any of them: those of JAX do."""
    files = run.table("kernel_ops", ("file",))["file"]
    return bool(files.null_count < len(files))


def texts(run: Run, rows: Sequence[Row]) -> list[str | None]:
    """The text of each row of sums by line; None: it is of no line, or no copy of its file was kept."""
    files = {row.keys["file"] for row in rows} - {None}
    kept = {file: run.folder.source_lines(file) for file in files}
    return [_text(kept.get(row.keys["file"], ()), row.keys["line"]) for row in rows]


def _text(lines: Sequence[str], line: int | None) -> str | None:
    return lines[line - 1].strip() if line is not None and 0 < line <= len(lines) else None
