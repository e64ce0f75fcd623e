"""`dlprof view`: a run, a comparison or a folder of runs in the browser; `--html` of other commands only writes it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.store.ranked import RankedRun

EXAMPLES = """\
examples:
  dlprof view last                        writes the page into the run's folder and opens it
  dlprof view runs/tensorflow runs/mxnet  a comparison
  dlprof view last -o page.html --no-open
  dlprof view last --serve                from a server on this machine only, until Ctrl-C
  dlprof view runs/ddp                    ranks of one training: a map rank by step, timelines below each other
  dlprof view runs/ddp --ranks 0,17       with the timelines of these
  dlprof view dlprof_runs --serve         all runs of a folder, with trends; each run's page when it is clicked

The page is one file that needs no network: it can be sent to a colleague as it is."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    runs: Sequence[str]
    output: str | None
    no_open: bool
    serve: bool
    ranks: str | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="*",
        default=("last",),
        help="a run (default: `last`); two, to compare (each may be repeats); or a folder of runs",
    )
    parser.add_argument("-o", dest="output", metavar="FILE", help="where to write the page")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument("--serve", action="store_true", help="serve it on a loopback address with a random token")
    parser.add_argument(
        "--ranks",
        metavar="N,N",
        help="of a run of ranks: those whose timelines are drawn (default: those that tell most)",
    )


def run(args: Arguments) -> int:
    """Make the page, and show it."""
    if len(args.runs) == 1 and _is_folder(args.runs[0]):
        return _folder(Path(args.runs[0]), args)
    title, page = _page(args.runs, args.ranks)
    if args.serve:
        _serve(page, open_it=not args.no_open)
    else:
        _write(page, title, args)
    return 0


def _page(names: Sequence[str], ranks: str | None) -> tuple[str, str]:
    """File name and text of the page."""
    from dlprof.errors import UsageError

    if len(names) == 1:
        return "report.html", run_page(names[0], ranks=ranks)
    if ranks is not None:
        raise UsageError("--ranks chooses the timelines of one run of ranks.", hint="dlprof view RUN --ranks 0,1")
    if len(names) == 2:
        return "comparison.html", comparison_page(names)
    raise UsageError("A page shows one run, or compares two.", hint="dlprof view RUN RUN")


def _is_folder(text: str) -> bool:
    if not Path(text).is_dir():
        return False
    from dlprof.report.html import index_files

    return index_files.is_folder(text)


def _folder(folder: Path, args: Arguments) -> int:
    """The page over a folder's runs; a server makes those of the runs, too."""
    from dlprof.report.html import index_files

    if args.serve:
        _serve(*index_files.served(folder, run_page), open_it=not args.no_open)
        return 0
    path = index_files.write(folder, Path(args.output) if args.output else None)
    _open(path, args)
    return 0


def _serve(page: str, below: Mapping[str, Callable[[], str]] | None = None, *, open_it: bool) -> None:
    import webbrowser

    from dlprof.report.html import serve
    from dlprof.report.say import say

    with serve.Server(page, below) as server, serve.redirect(server.url) as leading_there:
        print(server.url, flush=True)
        say("serving until Ctrl-C; the address works on this machine only")
        if open_it:
            webbrowser.open(leading_there)
        server.serve_until_interrupted()


def _write(page: str, title: str, args: Arguments) -> None:
    from dlprof.report.html import files

    _open(files.write(page, Path(args.output)) if args.output else files.write_beside(page, args.runs, title), args)


def _open(path: Path, args: Arguments) -> None:
    """Say where the page is, and show it."""
    import webbrowser

    from dlprof.report.say import say

    print(path)
    if not args.no_open and not webbrowser.open(path.resolve().as_uri()):
        say("no browser could be opened; open the file by hand")


def run_page(name: str, *, rebuild: bool = False, ranks: str | None = None) -> str:
    """The page of a run, or of a run of ranks, by its name.

    Args:
        name: Path or name of the run, or `last`.
        rebuild: Make its tables again from the raw artifacts.
        ranks: Ranks whose timelines are drawn, with commas between; None: those that tell most.

    Raises:
        NoInputError: There is no such run.
        BadDataError: It is damaged or of a newer dlprof.
        UsageError: It has no such rank.
    """
    from dlprof.analysis.findings import diagnose
    from dlprof.errors import UsageError
    from dlprof.pipeline import ranked
    from dlprof.pipeline.opening import open_run
    from dlprof.report.html import run_page as page
    from dlprof.trials import confirm

    found = ranked.find(name)
    if found is not None and found.members:
        return _page_of_ranks(found, ranks)
    if ranks is not None:
        raise UsageError(f"--ranks chooses among the ranks of one training, and {name} is one run.")
    opened = open_run(name, rebuild=rebuild)
    try:
        diagnosis = confirm.with_trials(opened, diagnose.diagnose(opened))
    except UsageError as error:
        return page.make(opened, None, error.message)
    return page.make(opened, diagnosis)


def _page_of_ranks(found: RankedRun, wanted: str | None) -> str:
    from dlprof.analysis import ranks as analysis
    from dlprof.analysis.findings import of_ranks
    from dlprof.report.html import ranks_page

    chosen = _chosen(found, wanted, ranks_page.MOST_TIMELINES) if wanted is not None else ()
    summary = analysis.of_run(found)
    return ranks_page.make(found, summary, of_ranks.look(found, summary), chosen)


def _chosen(found: RankedRun, wanted: str, most: int) -> tuple[int, ...]:
    """The ranks that the user names.

    Raises:
        UsageError: There is no such rank, or there are too many.
    """
    from dlprof.errors import UsageError

    there = {one.rank for one in found.members}
    words = [word.strip() for word in wanted.split(",")]
    unknown = next((word for word in words if not word.isdecimal() or int(word) not in there), None)
    if unknown is not None:
        span = f"{min(there)} to {max(there)}" if len(there) > 1 else f"{min(there)}"
        raise UsageError(f"{found.typed} has no rank {unknown}.", hint=f"it has {len(there)} ranks: {span}")
    if len(words) > most:
        raise UsageError(f"A page draws the timelines of {most} ranks at most, not of {len(words)}.")
    return tuple(int(word) for word in words)


def comparison_page(names: Sequence[str]) -> str:
    """The page of a comparison, by the names of its two sides.

    Raises:
        NoInputError: There is no such run.
        BadDataError: One is damaged or of a newer dlprof.
        UsageError: One side is a run of ranks, and the other is none.
    """
    from dlprof.pipeline import ranked

    ranks = ranked.both(names)
    if ranks is not None:
        from dlprof.analysis import rank_pairs
        from dlprof.report.html import ranks_page

        return ranks_page.make_pair(rank_pairs.compare(*(rank_pairs.side(*one) for one in ranks)))
    from dlprof.analysis import compare, line_pairs
    from dlprof.analysis.findings import diagnose
    from dlprof.analysis.turned import turned
    from dlprof.errors import UsageError
    from dlprof.pipeline.opening import open_sides
    from dlprof.report.html import comparison_page as page

    a, b = open_sides(names)
    gap = compare.compare(a, b)
    lines = line_pairs.join(a.runs, b.runs)
    try:
        diagnosis, of_b = diagnose.diagnose_gap(gap), diagnose.diagnose_gap(turned(gap))
    except UsageError as error:
        return page.make(gap, lines, None, error.message)
    return page.make(gap, lines, diagnosis, of_b=of_b)
