"""Queries that several rules show as evidence. Users give their SQL to `dlprof sql RUN` again."""

from __future__ import annotations

import re

from dlprof.analysis.findings.doing import THREADS
from dlprof.analysis.findings.finding import Query
from dlprof.schema.vocabulary import MAIN_THREAD, Phase, SpanKind

LAYERS = Query("what layers are given, and their weights", "SELECT layer, class, inputs, output, weights FROM layers")
_AT_REST = "|".join((*THREADS, "<python>/(socket|selectors|multiprocessing/connection).py"))
"""Python's own files in which a thread stands that only waits to be given something to do, for a regular expression."""


def python_stood(*phases: Phase, where: str = "", frames: str = "") -> Query:
    """Where Python stood in some phases, by the samples: each stack once, at its innermost function that says most.

    That is one of the script or a library, and one of Python itself where a stack has no other; those of Keras are left
    out: their time is that of what called them. So are threads beside the main one, and workers, that only wait to be
    given something to do.

    Args:
        phases: Leaf phases.
        where: More conditions, over stacks `s`, workers `w` and intervals `p`.
        frames: Which frames count, over their function, file and line.
    """
    query = (
        "WITH f AS (SELECT *, arg_max(file, depth) OVER (PARTITION BY stack_id) AS innermost FROM frames "
        f"WHERE file NOT LIKE 'keras/%'{f' AND {frames}' if frames else ''} "
        "QUALIFY row_number() OVER (PARTITION BY stack_id ORDER BY starts_with(file, '<'), depth DESC) = 1) "
        "SELECT f.function, f.file, f.line, concat_ws(', ', w.name, s.thread) AS thread, "
        "sum(least(s.start_ns + s.dur_ns, p.start_ns + p.dur_ns) - greatest(s.start_ns, p.start_ns)) AS stood_ns "
        "FROM stacks s JOIN f USING (stack_id) "
        "JOIN phase_intervals p ON s.start_ns < p.start_ns + p.dur_ns AND p.start_ns < s.start_ns + s.dur_ns "
        "LEFT JOIN (SELECT pid, any_value(name) AS name FROM processes WHERE role = 'worker' GROUP BY pid) w "
        "ON w.pid = s.pid "
        f"WHERE p.phase IN ({_texts(phases)}){f' AND {where}' if where else ''} "
        f"AND ((s.thread = '{MAIN_THREAD}' AND w.pid IS NULL) OR NOT regexp_matches(f.innermost, '^({_AT_REST})')) "
        "GROUP BY ALL ORDER BY stood_ns DESC LIMIT 8"
    )
    what = "where Python stood, in the main thread and where others worked; Keras' code by the line that called it"
    return Query(what, query)


def training_told(*paths: str) -> Query:
    """What the script told Keras of the training: paths below the facts, such as `training.run_eagerly`."""
    names = [re.sub(r"\W+", "_", path.removeprefix("training.")) for path in paths]
    columns = ", ".join(f"json_extract(detail, '$.{path}') AS {name}" for path, name in zip(paths, names, strict=True))
    query = f"SELECT {columns} FROM spans WHERE kind IN ('fit', 'on_batch') AND detail LIKE '%training%'"
    return Query("what was set when the training began", query)


def operators(where: str = "true", by: str = "layer, direction, op") -> Query:
    """Operators and kernels of the windows with most time."""
    query = (
        f"SELECT {by}, count(*) AS count, sum(self_ns) AS total_ns FROM kernels WHERE {where} "
        "GROUP BY ALL ORDER BY total_ns DESC LIMIT 8"
    )
    return Query("operators in the kernel windows", query)


def kernels_by_line() -> Query:
    """Lines of the script that made the kernels with most time."""
    query = (
        "SELECT file, line, count(*) AS count, sum(self_ns) AS total_ns FROM kernels WHERE file IS NOT NULL "
        "GROUP BY ALL ORDER BY total_ns DESC LIMIT 8"
    )
    return Query("kernels by the line that made them", query)


def spans(*kinds: SpanKind) -> Query:
    """Calls of some kinds, those with most time first."""
    query = (
        f"SELECT kind, name, file, line, count(*) AS count, sum(dur_ns) AS total_ns FROM spans "
        f"WHERE kind IN ({_texts(kinds)}) GROUP BY ALL ORDER BY total_ns DESC LIMIT 8"
    )
    return Query("calls, by time", query)


def scheduled() -> Query:
    """Threads of the process on cores, and waiting for one: counters."""
    query = (
        "SELECT time_ns, threads, run_ns, wait_ns, switches_involuntary FROM process_samples "
        "WHERE run_ns IS NOT NULL ORDER BY time_ns DESC LIMIT 8"
    )
    return Query("threads on a core, and waiting for one (counters)", query)


def passes() -> Query:
    """Passes over loaders."""
    query = (
        "SELECT loader, kind, file, line, workers, start_ns, open_ns, first_wait_ns, waited_ns, last_wait_ns, "
        "item_count FROM loaders ORDER BY start_ns"
    )
    return Query("passes over loaders: their beginning, waits and end", query)


def workers() -> Query:
    """Worker processes, with their lives and CPU times."""
    query = (
        "SELECT name, pid, start_ns, end_ns, cpu_ns, read_bytes FROM processes WHERE role = 'worker' ORDER BY start_ns"
    )
    return Query("worker processes (no rows: the workers are threads)", query)


def waits_by_step() -> Query:
    """The steps that waited longest."""
    query = "SELECT epoch, step, start_ns, input_ns FROM steps WHERE loop = 'train' ORDER BY input_ns DESC LIMIT 8"
    return Query("the steps that waited longest for their batch", query)


def _texts(names: tuple[str, ...]) -> str:
    return ", ".join("'" + name.replace("'", "''") + "'" for name in names)
