"""What the tools of the server answer: plain JSON objects, made by what the commands of the same names use.

Times are ns where names end with `_ns`; null is not known, or not measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dlprof import run_names, rundir
from dlprof.analysis import compare as comparing
from dlprof.analysis import kernels as kernel_sums
from dlprof.analysis import line_pairs, processes, program, rank_pairs
from dlprof.analysis import lines as counted
from dlprof.analysis.findings import diagnose
from dlprof.assistant import of_ranks
from dlprof.errors import NoInputError, UsageError
from dlprof.pipeline import ranked
from dlprof.pipeline.opening import open_run, open_sides
from dlprof.report import (
    compare_json,
    diagnosis_json,
    gap_words,
    kernel_json,
    line_json,
    rank_pairs_json,
    run_list,
    summary,
)
from dlprof.report.json_text import finite, plain
from dlprof.report.model import Report
from dlprof.schema.tables import TABLES
from dlprof.store import query, ranked_query

PARTS = (
    "run", "script", "arguments", "state", "backend", "keras_version", "engine", "machine", "wall_ns", "verdict",
    "phases", "unattributed_ns", "steps", "step_split", "findings", "epochs", "overhead", "health", "exit",
)  # fmt: skip
"""Parts of a report that are told where none are asked for."""
QUERY_SECONDS = 20.0
"""CPU time and waiting that a query may take."""
_EVIDENCE_ROWS = 5


def runs(folder: str | None, most: int) -> dict[str, Any]:
    """The runs of a folder, the newest first, each by the name that other tools take; and folders of repeats in it.

    Where there are none, `hint` says which folder has some, and what to call; else it is null.

    Raises:
        NoInputError: There is no such folder.
    """
    place = Path(folder or rundir.RUNS_FOLDER)
    if folder and not place.is_dir():
        raise NoInputError(f"There is no folder {folder}.")
    found = rundir.find(place)[::-1]
    rows = _plain(run_list.list_runs(found[:most]))["runs"]
    named = [{**row, "run": str(place / row["run"]) if folder else row["run"]} for row in rows]
    told = {"folder": str(place), "runs": named, "of": len(found), "repeats": _repeats(place, most)}
    return {**told, "hint": None if found else _hint(Path(folder or ""))}


def _hint(searched: Path) -> str:
    """What to do where a folder holds no runs: where others lie, or how one is made."""
    other = run_names.elsewhere(searched)
    if other is None:
        return (
            f"No folder below {searched.resolve()} holds runs. If they lie elsewhere, call runs with folder= and an "
            "absolute path; else make one: dlprof trace SCRIPT."
        )
    inner = "" if other.folder == Path() else f"{other.folder}/"
    call = f"call runs with folder={str(other.folder)!r}"
    return f"{other.said}: {call}; other tools take a run of it as run='{inner}NAME'."


def _repeats(place: Path, most: int) -> list[dict[str, Any]]:
    """Folders of repeats in a folder, each a side of a comparison as it stands."""
    folders = sorted(path for path in place.iterdir() if path.is_dir()) if place.is_dir() else []
    held = [(path, len(rundir.find(path))) for path in folders if not (path / "manifest.json").is_file()]
    return [{"folder": str(path), "runs": count} for path, count in held if count][:most]


def report(run: str, parts: Sequence[str] | None) -> dict[str, Any]:
    """Parts of the report of a run (`dlprof.report/1`), or of the ranks of one training (`dlprof.ranks/1`).

    Raises:
        UsageError: There is no part of that name.
    """
    ranks = of_ranks.named(run, parts)
    if ranks is not None:
        told: dict[str, Any] = _plain(of_ranks.report(ranks, parts))
        return told
    known = Report.__struct_fields__
    if unknown := [name for name in parts or () if name not in known]:
        raise UsageError(f"A report has no part {unknown[0]}.", hint=f"there are: {', '.join(known)}")
    opened = open_run(run)
    made: dict[str, Any] = _plain(summary.summarise(opened, diagnosis=diagnose.brief(opened, within_s=math.inf)))
    return {name: made[name] for name in parts or PARTS}


def findings(run: str, faster: str | None) -> dict[str, Any]:
    """Causes of the time of a run, or of the gap to a faster one, each with the first rows of its evidence.

    Of the ranks of one training: what they lose to each other, and `hint`, what tells of a rank by itself.
    """
    ranks = of_ranks.named(run) if faster is None else None
    if ranks is not None:
        made = of_ranks.findings(ranks)
    elif faster is None:
        opened = open_run(run)
        made = diagnosis_json.as_json(diagnose.diagnose(opened), (opened.name,), None)
    else:
        slow, fast = open_sides([run, faster])
        gap = comparing.compare(slow, fast)
        names = (slow.runs[0].name, fast.runs[0].name)
        made = diagnosis_json.as_json(diagnose.diagnose_gap(gap), names, gap.parity, gap_words.doubts(gap))
    told: dict[str, Any] = _plain(made)
    for finding in told["findings"]:
        for evidence in finding["evidence"]:
            evidence["rows"] = evidence["rows"][:_EVIDENCE_ROWS]
    return told if ranks is None else {**told, "hint": of_ranks.hint(run, ranks)}


def lines(run: str, most: int) -> dict[str, Any]:
    """The lines in which most time was, with their text."""
    opened = open_run(run)
    opened.require("lines")
    found = counted.functions(opened.table("lines"), processes.kinds(opened, program.others(opened)))
    spent = [line for line in line_json.as_json(found) if line.time_ns]
    spent.sort(key=lambda line: -line.time_ns)
    return {"run": opened.name, "wall_ns": opened.wall_ns, "lines": _plain(spent[:most]), "of": len(spent)}


def kernels(run: str, by: str, most: int) -> dict[str, Any]:
    """Sums of kernels, those with most time first.

    Raises:
        UsageError: They cannot be summed by that.
    """
    if by not in kernel_sums.GROUPS:
        raise UsageError(f"Kernels cannot be summed by {by}.", hint=f"one of {', '.join(kernel_sums.GROUPS)}")
    opened = open_run(run)
    opened.require("kernel_ops", "kernel_events")
    made: dict[str, Any] = _plain(kernel_json.as_json(kernel_sums.summarise(opened, by, phase=None), by, None))
    return {**made, "rows": made["rows"][:most], "of": len(made["rows"])}


def sql(run: str, text: str, most: int) -> dict[str, Any]:
    """The first rows of an answer to a query; nothing that it does outlives it, and it reads no file."""
    ranks = of_ranks.named(run)
    if ranks is not None:
        found, has_more = ranked_query.ask_within(ranks, text, rows=most, seconds=QUERY_SECONDS)
    else:
        found, has_more = query.ask_within(open_run(run), text, rows=most, seconds=QUERY_SECONDS)
    return {"columns": list(found.columns), "rows": _plain([list(row) for row in found.rows]), "has_more": has_more}


def compare(a: str, b: str, most: int) -> dict[str, Any]:
    """Where the gap between two sides comes from; of layers and lines those that differ most."""
    ranks = ranked.both([a, b])
    if ranks is not None:
        told: dict[str, Any] = _plain(
            rank_pairs_json.as_json(rank_pairs.compare(*(rank_pairs.side(*one) for one in ranks)))
        )
        return told
    first, other = open_sides([a, b])
    found = comparing.compare(first, other)
    made: dict[str, Any] = _plain(compare_json.as_json(found, line_pairs.join(first.runs, other.runs)))
    for side in (made["a"], made["b"]):
        del side["cores"]
    made["items"].sort(key=lambda item: -abs(item["delta_ns"]))
    made["lines"] = sorted(made["lines"], key=lambda line: -abs(line["delta_ns"]))[:most]
    made["layers"] = made["layers"][:most]  # those that differ most stand first already
    for part in (made["memory"], made["work"]):
        part["layers"] = part["layers"][:most]
    return made


def table(name: str) -> dict[str, Any]:
    """The columns of a table, with their types.

    Raises:
        NoInputError: There is no such table.
    """
    if name not in TABLES:
        raise NoInputError(f"There is no table {name}.", hint=f"there are: {', '.join(TABLES)}")
    return {"table": name, "columns": {field.name: _type(field.type) for field in TABLES[name]}}


def tables() -> Mapping[str, Any]:
    """Every table, with the names of its columns."""
    return {name: list(schema.names) for name, schema in TABLES.items()}


def _type(kind: Any) -> str:
    """A type as SQL has it, more or less: text stands for a dictionary of texts."""
    return "text" if str(kind).startswith(("dictionary", "string")) else str(kind)


def _plain(value: Any) -> Any:
    made = finite(plain(value))
    return _texts(made)


def _texts(value: Any) -> Any:
    """What JSON lacks (moments, decimals, bytes) as text."""
    if isinstance(value, dict):
        return {str(name): _texts(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_texts(inner) for inner in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
