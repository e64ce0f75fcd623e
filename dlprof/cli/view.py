"""`dlprof view`: a run, or a comparison, as a page in the browser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

EXAMPLES = """\
examples:
  dlprof view last                       writes the page into the run's folder and opens it
  dlprof view runs/tensorflow runs/mxnet a comparison
  dlprof view last -o page.html --no-open
  dlprof view last --serve               from a server on this machine only, until Ctrl-C

The page is one file that needs no network: it can be sent to a colleague as it is."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="a run; or two, to compare (each also repeats)")
    parser.add_argument("-o", dest="output", metavar="FILE", help="where to write the page")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument("--serve", action="store_true", help="serve it on a loopback address with a random token")


def run(args: argparse.Namespace) -> int:
    """Make the page, and show it."""
    import webbrowser

    from dlprof.report.html import files, serve

    title, page = _page(args.runs)
    if args.serve:
        with serve.Server(page) as server:
            print(server.url, flush=True)
            print("dlprof: serving until Ctrl-C; the address works on this machine only", file=sys.stderr)
            if not args.no_open:
                webbrowser.open(server.url)
            server.serve_until_interrupted()
        return 0
    path = files.write(page, Path(args.output)) if args.output else files.write_beside(page, args.runs, title)
    print(path)
    if not args.no_open and not webbrowser.open(path.resolve().as_uri()):
        print("dlprof: no browser could be opened; open the file by hand", file=sys.stderr)
    return 0


def _page(names: list[str]) -> tuple[str, str]:
    from dlprof.cli import pages
    from dlprof.errors import UsageError

    if len(names) == 1:
        return "report.html", pages.of_run(names[0])
    if len(names) == 2:
        return "comparison.html", pages.of_comparison(names)
    raise UsageError("A page shows one run, or compares two.", hint="dlprof view RUN RUN")
