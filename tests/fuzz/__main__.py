"""Fuzzes the readers of foreign files: mutations of real ones, through import, reports and page.

    python -m tests.fuzz --seconds 60
    python -m tests.fuzz --reader xspace --inputs 100000 --jobs 2
    python -m tests.fuzz --seed 7 --seconds 36000 --save found

An input is told by reader, seed and number, so that the same words try the same inputs. An escape is whatever comes out
besides the readers' own error, takes too long or kills the worker; its input is saved, the first of each place. Inputs of
past findings are in tests/fuzz/corpus, as READER-NAME, and are tried by the quick tests.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dlprof.ingest.formats import registry
from tests.fuzz import workers
from tests.fuzz.workers import CHUNK, Escape, Outcome, Task

_SECONDS_BETWEEN_WORDS = 60


@dataclass
class Sums:
    """What was found so far.

    Attributes:
        counts: Of each reader: inputs that were `read`, `refused`, `escaped`, and how many went through the `whole`.
        first: The first escape of each place.
        times: How often each place was found.
    """

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    first: dict[str, Escape] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)

    @property
    def inputs(self) -> int:
        """How many inputs were tried."""
        return sum(counts[name] for counts in self.counts.values() for name in ("read", "refused", "escaped"))

    def add(self, task: Task, outcome: Outcome) -> list[Escape]:
        """Add what became of a task; the escapes that are new."""
        self.counts.setdefault(task.reader, Counter()).update(outcome.counts)
        new = []
        for escape in outcome.escapes:
            key = f"{escape.reader}: {escape.what}"
            self.times[key] += 1
            if key not in self.first:
                self.first[key] = escape
                new.append(escape)
        return new


def tasks(readers: Sequence[str], seed: int, until: float | None, inputs: int | None) -> Iterator[Task]:
    """Tasks for all readers in turn, until the time is over or there were enough inputs."""
    given, chunk = 0, CHUNK if inputs is None else max(1, min(CHUNK, -(-inputs // len(readers))))
    for turn in itertools.count():
        for reader in readers:
            count = chunk if inputs is None else min(chunk, inputs - given)
            if count <= 0 or (until is not None and time.monotonic() > until):
                return
            given += count
            yield Task(reader, seed, turn * chunk, count)


def fuzz(
    readers: Sequence[str], *, seed: int, seconds: float | None, inputs: int | None, jobs: int, save: Path | None
) -> Sums:
    """Fuzz some readers, and save what escapes."""
    sums = Sums()
    begun = told = time.monotonic()
    until = None if seconds is None else begun + seconds
    for task, outcome in workers.run(tasks(readers, seed, until, inputs), jobs):
        for escape in sums.add(task, outcome):
            print(f"{escape.reader} {escape.number}: {escape.what}", flush=True)
            if save is not None:
                _save(escape, save, seed)
        if time.monotonic() > told + _SECONDS_BETWEEN_WORDS:
            told = time.monotonic()
            print(
                f"{told - begun:.0f} s: {sums.inputs:,} inputs, {len(sums.times)} places", file=sys.stderr, flush=True
            )
    return sums


def _save(escape: Escape, folder: Path, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{escape.reader}-{seed}-{escape.number}"
    (folder / name).write_bytes(escape.content)
    (folder / f"{name}.txt").write_text(f"{escape.what}\n\n{escape.trace}", encoding="utf-8", errors="replace")


def _print(sums: Sums) -> None:
    print(f"{'reader':<16} {'inputs':>9} {'read':>9} {'refused':>9} {'whole':>7} {'escaped':>7}")
    for reader, counts in sorted(sums.counts.items()):
        inputs = counts["read"] + counts["refused"] + counts["escaped"]
        row = (counts["read"], counts["refused"])
        print(f"{reader:<16} {inputs:>9,} {row[0]:>9,} {row[1]:>9,} {counts['whole']:>7,} {counts['escaped']:>7,}")
    print(f"{sums.inputs:,} inputs, {sum(sums.times.values()):,} escapes at {len(sums.times)} places")
    for key, times in sums.times.most_common():
        print(f"{times:>7} {key}")


def main(arguments: Sequence[str]) -> int:
    """Fuzz as the command line says; 1 where something escaped."""
    known = [reader.name for reader in registry.READERS]
    parser = argparse.ArgumentParser(
        "python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", action="append", choices=known, metavar="NAME", help="a reader (default: all)")
    parser.add_argument("--seconds", type=float, metavar="S", help="how long (default: 60, unless --inputs)")
    parser.add_argument("--inputs", type=int, metavar="N", help="how many inputs, of all readers together")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which inputs (default: 1)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="workers at the same time (default: 1)")
    parser.add_argument("--save", type=Path, default=Path("fuzz-escapes"), metavar="DIR", help="where escapes go")
    options = parser.parse_args(arguments)
    seconds = 60.0 if options.seconds is None and options.inputs is None else options.seconds
    sums = fuzz(
        options.reader or known,
        seed=options.seed,
        seconds=seconds,
        inputs=options.inputs,
        jobs=options.jobs,
        save=options.save,
    )
    _print(sums)
    return 1 if sums.times else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
