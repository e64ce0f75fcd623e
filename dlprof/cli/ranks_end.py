"""What is printed at the end of a run that is one of several ranks, or that started them."""

from __future__ import annotations

import os
import sys

from dlprof.report.say import say
from dlprof.store.run import Run


def tell(run: Run) -> bool:
    """Print the report of all ranks, if this run has to do with some; returns whether it has.

    Of ranks that are a dlprof each the last that is stored prints it; the others print nothing, but for rank 0, which
    says where it will be.

    Args:
        run: The run that was just stored.

    Raises:
        DlprofError: The runs of the ranks cannot be opened.
    """
    from dlprof import rundir
    from dlprof.launch import ranks
    from dlprof.pipeline import rank_folders

    rank = ranks.of_environment(os.environ)
    if rank is None:
        return run.manifest.followed is not None and _print(str(run.folder.path))
    shared = run.folder.path.parent
    if rank_folders.is_last(run.folder, rank):
        return _print(str(shared))
    if rank.rank == 0:
        say(f"all ranks, once they are stored: dlprof report {rundir.name_to_type(rundir.RunDir(shared))}")
    return True


def _print(folder: str) -> bool:
    from dlprof.analysis import ranks
    from dlprof.pipeline import ranked
    from dlprof.report import ranks_text

    found = ranked.find(folder)
    if found is None:
        return False
    ranks_text.print_ranks(found, ranks.of_run(found), file=sys.stderr)
    return True
