"""How far what is said of memory is right: leaks that are planted, long runs without one, runs that memory ends.

python -m tests.memory_exam leaks                     all planted leaks, as a table; seconds each
python -m tests.memory_exam leaks --only graph jax    those with one of these texts in their names
python -m tests.memory_exam clean --seconds 60        long runs that keep nothing
python -m tests.memory_exam ends                      ulimit -v, RLIMIT_AS, the kernel in a control group
python -m tests.memory_exam truth                     bytes and operations beside arithmetic and engines' own counters

Runs are kept below --work: a second time only what is said of them is made anew.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tests.memory_exam import clean, ends, leaks, truth

Row = Callable[[], tuple[str, ...]]


def main() -> int:
    """Print a table, row by row; 1 where one could not be made."""
    args = _parser().parse_args()
    columns, rows = _PARTS[args.part](args)
    _say(columns)
    _say(["---"] * len(columns))
    failed = 0
    for key, make in rows:
        if any(part in key for part in args.only):
            try:
                _say(make())
            except Exception as error:  # noqa: BLE001  (the others are made all the same)
                failed += 1
                print(f"| {key} | {type(error).__name__}: {error} |", flush=True)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=_PARTS)
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT", help="parts of names, as leak-backend")
    parser.add_argument("--seconds", type=int, default=60, help="of each long run")
    default = Path(tempfile.gettempdir()) / "dlprof-memory-exam"
    parser.add_argument("--work", type=Path, default=default, metavar="DIR", help="where runs are kept")
    return parser


def _say(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def _leaks(args: argparse.Namespace) -> tuple[Sequence[str], Iterator[tuple[str, Row]]]:
    work = args.work / "leaks"
    return leaks.COLUMNS, ((one.key, partial(leaks.row, one, work)) for one in leaks.all_of_them())


def _clean(args: argparse.Namespace) -> tuple[Sequence[str], Iterator[tuple[str, Row]]]:
    work = args.work / "clean"
    return clean.COLUMNS, (
        (clean.key(name, backend), partial(clean.row, name, backend, work, args.seconds))
        for name, backend in clean.RUNS
    )


def _ends(args: argparse.Namespace) -> tuple[Sequence[str], Iterator[tuple[str, Row]]]:
    work = args.work / "ends"
    return ends.COLUMNS, (
        (ends.key(way, backend), partial(ends.row, way, backend, work))
        for way in ends.WAYS
        for backend in leaks.BACKENDS
    )


def _truth(args: argparse.Namespace) -> tuple[Sequence[str], Iterator[tuple[str, Row]]]:
    return truth.COLUMNS, ((one.key, partial(truth.row, one, args.work / "truth")) for one in truth.all_of_them())


_PARTS = {"leaks": _leaks, "clean": _clean, "ends": _ends, "truth": _truth}

if __name__ == "__main__":
    raise SystemExit(main())
