"""Opens stored runs, as every command does that shows one."""

from __future__ import annotations

from dlprof import rundir
from dlprof.schema.tables import SCHEMA_VERSION
from dlprof.store.run import Run


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
    if rebuild or manifest.get("tables_version", 0) < SCHEMA_VERSION or rundir.goes_on(manifest):
        # Most runs have their tables, and need not wait for all that makes them.
        from dlprof.pipeline import ingest  # noqa: PLC0415

        manifest = ingest(folder)
    return Run(folder, manifest)
