"""Hits of lines that were counted in windows, where it is known how often they ran: once in each step, or once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec
import pyarrow as pa

from dlprof.analysis import source_loops, source_turns
from dlprof.ingest.own import lines as lines_reader
from dlprof.ingest.own.source_outline import MODULE
from dlprof.pipeline import hits_per_turn
from dlprof.pipeline.workspace import Workspace
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import LineSource, RunSource, RunState, SpanKind

_Line = tuple[str, int]


def add(run: Workspace) -> None:
    """Replace scaled hits of lines in the steps of an inferred training loop by what its number of steps tells.

    A line of the script itself that is in no loop, and was seen in samples, ran once: `main()`, which no window met.
    Those of lines that run once are exact where the run came to its end, and their time is from samples. The line at
    which such a loop begins runs as often, and once more each time the loop ends: it stays a number that was scaled. So
    do hits of lines below the loop, as often for each step as they were in the steps that were all counted.
    """
    table = run.tables.get("lines")
    if table is None or LineSource.SCALED not in table["how"].to_pylist():
        return
    if run.manifest.backend.source == RunSource.ATTACHED:
        return  # nobody saw the turns before
    steps = _steps(run)
    rows = table.to_pylist()
    each = {
        head: [(head[0], line) for line in source_turns.of_each_update(run.source(head[0]), head[1])] for head in steps
    }
    of_steps = {line: steps[head] for head, lines in each.items() for line in lines}
    known = {**dict.fromkeys(_once(run, rows), 1), **of_steps}
    if known:
        heads = {line: steps[line] for line in steps if any(one[0] == line[0] for one in known)}
        is_whole = _is_whole(run)
        inside = _per_turn(run, rows, {head: (steps[head], lines) for head, lines in each.items()})
        told = {**inside, **heads}
        rows = [_anchored(_anchored(row, known, is_whole), told, False) for row in rows]
        run.tables.put({"lines": pa.Table.from_pylist(rows, schema=TABLES["lines"])})


def _anchored(row: dict[str, Any], known: Mapping[_Line, int], may_be_exact: bool) -> dict[str, Any]:
    steps = known.get((row["file"], row["line"]))
    if steps is None or row["how"] != LineSource.SCALED:
        return row
    is_exact = may_be_exact and row["samples"] is not None  # without samples its time is scaled, too
    return {**row, "hits": steps, "how": LineSource.EXACT if is_exact else LineSource.SCALED}


def _once(run: Workspace, rows: Sequence[Mapping[str, Any]]) -> Iterator[_Line]:
    """Lines of the script's own code, outside of functions and loops, that ran and whose hits are not known."""
    script = PurePath(run.manifest.command.script or "").name
    unknown = {
        row["line"]
        for row in rows
        if row["hits"] is None and row["samples"] and (row["file"], row["function"]) == (script, MODULE)
    }
    if unknown:
        for line in unknown & source_loops.run_once(run.source(script)):
            yield script, line


def _is_whole(run: Workspace) -> bool:
    """Whether the run ended as it should, with all its steps told: else the last turn may have been cut."""
    ended = run.manifest.state == RunState.FINISHED and run.manifest.process.exit_code == 0
    return ended and run.stream.complete and "phases" not in run.cuts


def _per_turn(
    run: Workspace, rows: list[dict[str, Any]], loops: Mapping[_Line, tuple[int, list[_Line]]]
) -> Mapping[_Line, int]:
    """Hits of lines below the loops, by what was counted before lines were counted in windows."""
    path = run.folder.raw / "lines.json"
    if not path.is_file():
        return {}
    counted = lines_reader.outside_of_windows(path, run.names)
    return hits_per_turn.told(rows, counted.hits, loops, run.source, few_windows=counted.has_few_windows)


def _steps(run: Workspace) -> Mapping[_Line, int]:
    """Steps of the training loops that were inferred, by the lines at which these begin."""
    loops: dict[int, _Line] = {}
    several: set[_Line] = set()
    columns = ("span_id", "kind", "file", "line", "detail")
    for piece in run.tables.pieces("spans", columns):
        for row in piece.to_pylist():
            detail = _detail(row["detail"]) if row["kind"] == SpanKind.FIT and row["file"] and row["line"] else {}
            if detail.get("how") == "inferred":
                loops[row["span_id"]] = row["file"], row["line"]
                if detail.get("batches_per_step", 1) != 1:  # a turn is no step
                    several.add((row["file"], row["line"]))
    counts: Counter[_Line] = Counter()
    for piece in run.tables.pieces("steps", ("loop_id", "count")):
        for sums in piece.group_by("loop_id").aggregate([("count", "sum")]).to_pylist():
            if sums["loop_id"] in loops:
                counts[loops[sums["loop_id"]]] += sums["count_sum"]
    return {line: count for line, count in counts.items() if line not in several}


def _detail(text: str | None) -> dict[str, Any]:
    found = msgspec.json.decode(text) if text else {}
    return found if isinstance(found, dict) else {}
