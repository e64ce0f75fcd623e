"""The traces of a run for TensorBoard's profile plug-in."""

from __future__ import annotations

import shutil
from pathlib import Path

from dlprof.errors import NoInputError
from dlprof.rundir import writing_into
from dlprof.store.run import Run


def write(run: Run, folder: Path) -> int:
    """Copy the XSpace files of a run's kernel windows into a log folder of TensorBoard.

    Each window becomes a profile of its own: `plugins/profile/RUN-window-000/HOST.xplane.pb`. The viewer keeps
    caches beside the files, so it never gets those of the run itself.

    Args:
        run: The run.
        folder: The log folder; made if it is not there.

    Returns:
        Number of files.

    Raises:
        NoInputError: The run has no such files.
        CannotCreateError: The folder cannot be written to.
    """
    found = sorted(run.folder.raw.glob("kernels/window-*/plugins/profile/*/*.xplane.pb"))
    if not found:
        engine = (run.manifest.get("keras") or {}).get("backend") or "this run's engine"
        raise NoInputError(
            f"{run.name} has no traces for TensorBoard: only TensorFlow and JAX write them, and it ran on {engine}.",
            hint=f"dlprof kernels {run.name}",
        )
    with writing_into(folder):
        for file in found:
            window = file.relative_to(run.folder.raw / "kernels").parts[0]
            target = folder / "plugins" / "profile" / f"{run.name}-{window}"
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target / file.name)
    return len(found)
