"""What counting lines took of each phase: the ledger tells it as one sum for the whole run.

Each hit of a line costs the same, so the sum belongs to the phases in which lines were hit. Counts know no time; that a
line ran in a phase is seen in samples of the main thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import loops, samples
from dlprof.analysis.columns import total
from dlprof.analysis.overhead import LINE_SPANS
from dlprof.analysis.samples import Sample
from dlprof.analysis.shares import proportional
from dlprof.schema.tree_paths import OWN_PATHS, Tree, TreePath
from dlprof.schema.vocabulary import EXACT_LINES, LineSource, SpanKind
from dlprof.store.run import Run

_Line = tuple[str, int]
_MOST = 0.9
"""Of a phase at most this share is put down to counting: it also did what was counted."""
_OF_SCRIPT = (Tree.SCRIPT, Tree.FIT_INPUT, Tree.FIT_CALLBACKS)
"""Phases in which the script's own Python runs, whoever calls the steps."""


def by_place(run: Run, leaves: Mapping[TreePath, int]) -> dict[TreePath, int]:
    """What counting lines took of each leaf (ns); what no leaf has room for stays where it is.

    Args:
        run: The run.
        leaves: The phases that have no parts (ns).
    """
    cost = _cost(run)
    if not cost:
        return {}
    room = {path: int(_MOST * ns) for path, ns in leaves.items() if path not in OWN_PATHS}
    weights = run.once("places of counted lines", _by_samples)
    known = {path: weight for path, weight in weights.items() if room.get(path)} or _by_time(run, leaves)
    taken = _within(room, proportional(cost, known))
    rest = {path: room[path] - taken[path] for path in taken}
    more = _within(rest, proportional(min(cost - sum(taken.values()), sum(rest.values())), rest))
    return {path: ns + more.get(path, 0) for path, ns in taken.items()}


def exact_ns(run: Run) -> int:
    """What counting each line took (ns), where the user asked for it with `--lines exact`; 0: nobody did."""
    chosen = run.manifest.config.get("lines")
    return _cost(run) if isinstance(chosen, Sequence) and EXACT_LINES in chosen else 0


def _within(room: Mapping[TreePath, int], shares: Mapping[TreePath, int]) -> dict[TreePath, int]:
    return {path: min(ns, room.get(path, 0)) for path, ns in shares.items()}


def _cost(run: Run) -> int:
    """What the run had to wait for the probe of lines, by the ledger, beyond our own spans (ns)."""
    taxes = [row["tax_ns"] for row in run.rows("probes") if row["name"] == "lines" and row["tax_ns"] is not None]
    own = run.filtered("spans", ("kind", "name", "dur_ns"), _is_of_lines)
    return max(0, int(sum(taxes)) - total(own["dur_ns"]))


def _is_of_lines(spans: pa.Table) -> pa.ChunkedArray:
    return pc.and_(pc.equal(spans["kind"], SpanKind.DLPROF), pc.is_in(spans["name"], pa.array(LINE_SPANS)))


def _by_samples(run: Run) -> dict[TreePath, int]:
    """How much was counted in each phase, in a unit of its own: hits, where they are known, else sampled time."""
    lines = _hits(run)
    sampled = samples.by_phase(run) if lines else []
    of_main = [sample for sample in sampled if sample.main]
    if None in lines.values():
        return _by_time_in(of_main, {line for line, hits in lines.items() if hits is None})
    return _by_hits(of_main, {line: hits for line, hits in lines.items() if hits})


def _by_hits(sampled: Iterable[Sample], hits: Mapping[_Line, int]) -> dict[TreePath, int]:
    """Hits by the phase that their lines were sampled in: those of a line that was seen in several are shared out."""
    times: dict[_Line, Counter[TreePath]] = {}
    for sample in sampled:
        for line in {(frame.file, frame.line) for frame in sample.frames} & hits.keys():
            times.setdefault(line, Counter())[sample.phase] += sample.dur_ns
    weights = Counter[TreePath]()
    for line, of_line in times.items():
        weights.update(proportional(hits[line], of_line))
    return dict(weights)


def _by_time_in(sampled: Iterable[Sample], lines: Collection[_Line]) -> dict[TreePath, int]:
    """Time of samples by phase whose innermost line of the user's is one of these."""
    times = Counter[TreePath]()
    files = {file for file, _ in lines}
    for sample in sampled:
        innermost = next(((frame.file, frame.line) for frame in sample.frames if frame.file in files), None)
        if innermost in lines:
            times[sample.phase] += sample.dur_ns
    return dict(times)


def _hits(run: Run) -> dict[_Line, int | None]:
    """How often each line ran that was counted; None: that is not known, though it was counted for some time."""
    found: dict[_Line, int | None] = {}
    for row in run.rows("lines"):
        if row["how"] != LineSource.SAMPLED:
            place, before = (row["file"], row["line"]), found.get((row["file"], row["line"]), 0)
            is_known = row["hits"] is not None and before is not None
            found[place] = before + row["hits"] if is_known else None
    return found


def _by_time(run: Run, leaves: Mapping[TreePath, int]) -> dict[TreePath, int]:
    """Without samples: the time of the phases in which the script's own Python runs; its own loop is one of them."""
    paths = _OF_SCRIPT if loops.are_all_of_keras(run) else (*_OF_SCRIPT, Tree.FIT_STEPS)
    return {path: leaves[path] for path in paths if leaves.get(path)}
