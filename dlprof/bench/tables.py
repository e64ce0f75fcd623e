"""Results of a benchmark as CSV, Markdown and JSON (`dlprof.bench/1`)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypedDict

from dlprof.analysis.scaling import LOST, SLUG
from dlprof.bench import studies as scaling_studies
from dlprof.bench.matrix import Matrix
from dlprof.bench.measures import MEASURES, NOISY_SHARE, RANK_MEASURES, Row
from dlprof.bench.studies import Study

SCHEMA: Final = "dlprof.bench/1"
_NOISY = "(!)"
"""Marks a cell whose runs differ much."""


class RowReport(TypedDict):
    """All repeats of a work on a backend, with one number of ranks, on one machine."""

    work: str
    backend: str
    ranks: int | None
    """With how many ranks, each started by torchrun; null: as one process, without a launcher."""
    node: str | None
    """Name of the machine; null: not told."""
    runs: int
    """Runs that came to their end."""
    failed: list[str]
    """Why the others failed, each reason once."""
    median: Mapping[str, float | None]
    """Of each measure; null: no run has it."""
    interval: Mapping[str, tuple[float, float] | None]
    """95 % interval of each median; null: there are fewer than three runs."""
    noisy: list[str]
    """Measures whose interval (of fewer runs: whose values) spans more than half of the median."""
    efficiency: float | None
    """Work per time and rank, in that of the smallest number of ranks; null: it is in no scaling study."""
    efficiency_interval: tuple[float, float] | None
    """95 % interval of it; null: it is the smallest, or there are fewer than three runs."""
    lost_s: float | None
    """Steady training beyond the ideal, mean of the ranks (s); null: it is in no scaling study."""
    lost: Mapping[str, float]
    """Where that is (s); these sum to it."""


class LawReport(TypedDict):
    """What is lost with n times the ranks of the smallest number: fixed_s (n - 1) / n + each_s (n - 1)."""

    fixed_s: float
    each_s: float
    serial_share: float | None
    """Amdahl's serial share, 0 to 1; null: the scaling is weak, or more is lost than the smallest run takes."""
    worst_s: float
    """Greatest difference between the law and what was measured (s)."""


class ForecastReport(TypedDict):
    """What the law says of twice as many ranks."""

    ranks: int
    train_s: float
    efficiency: float
    efficiency_interval: tuple[float, float] | None
    gain: float
    """Work per time, in that of the largest number of ranks that was run."""


class ScalingReport(TypedDict):
    """A scaling study: rows that differ in the number of ranks alone."""

    work: str
    backend: str
    node: str | None
    scaling: Literal["strong", "weak"]
    law: LawReport | None
    """Null: there are fewer than three numbers of ranks."""
    next: ForecastReport | None
    limited_by: str | None
    """Part that most of what the largest number of ranks loses is in; null: it loses little."""
    finding: str | None
    """The finding `scaling-limited`, in a sentence; null: there is none."""


class BenchReport(TypedDict):
    """The table of a benchmark."""

    schema: Literal["dlprof.bench/1"]
    name: str
    title: str
    seed: int
    repeat: int
    measures: Mapping[str, str]
    """What each measure means, with its unit."""
    rows: list[RowReport]
    lost: Mapping[str, str]
    """Parts of what is lost, and what they mean."""
    scaling: list[ScalingReport]


def as_json(matrix: Matrix, rows: Sequence[Row], studies: Sequence[Study] = ()) -> BenchReport:
    """All rows, and all scaling studies. See `dlprof help json`."""
    return {
        "schema": SCHEMA,
        "name": matrix.name,
        "title": matrix.title,
        "seed": matrix.seed,
        "repeat": matrix.repeat,
        "measures": {**MEASURES, **(RANK_MEASURES if any(row.ranks for row in rows) else {})},
        "rows": [_row(row, studies) for row in rows],
        "lost": dict(LOST),
        "scaling": [_study(study) for study in studies],
    }


def _row(row: Row, studies: Sequence[Study]) -> RowReport:
    point = scaling_studies.point_of(row, studies)
    names = (*MEASURES, *(RANK_MEASURES if row.ranks else ()))
    return {
        "work": row.work, "backend": row.backend, "ranks": row.ranks, "node": row.node, "runs": row.runs,
        "failed": list(row.failed),
        "median": {name: row.medians.get(name) for name in names},
        "interval": {name: row.intervals.get(name) for name in names},
        "noisy": list(row.noisy),
        "efficiency": point.efficiency if point else None,
        "efficiency_interval": point.interval if point else None,
        "lost_s": point.lost_s if point else None,
        "lost": dict(point.lost) if point else {},
    }  # fmt: skip


def _study(study: Study) -> ScalingReport:
    law, told = study.scaling.law, study.scaling.forecast
    return {
        "work": study.work, "backend": study.backend, "node": study.node, "scaling": study.scaling.mode,
        "law": None if law is None else {
            "fixed_s": law.fixed_s, "each_s": law.each_s, "serial_share": law.serial_share, "worst_s": law.worst_s,
        },
        "next": None if told is None else {
            "ranks": told.ranks, "train_s": told.train_s, "efficiency": told.efficiency,
            "efficiency_interval": told.interval, "gain": told.gain,
        },
        "limited_by": study.scaling.limited_by,
        "finding": scaling_studies.claim(study),
    }  # fmt: skip


def as_csv(rows: Sequence[Row], studies: Sequence[Study] = ()) -> str:
    """A line per row: median, low and high end of each measure, empty where there is none; last which are noisy."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    names = [*MEASURES, *(RANK_MEASURES if any(row.ranks for row in rows) else ())]
    heads = [f"{name}{part}" for name in names for part in ("", "_low", "_high")]
    tail = ["ranks", "node", "efficiency", "efficiency_low", "efficiency_high", "noisy"]
    writer.writerow(["work", "backend", "runs", "failed", *heads, *tail])
    for row in rows:
        cells: list[object] = []
        for name in names:
            low, high = row.intervals.get(name, ("", ""))
            cells += [row.medians.get(name, ""), low, high]
        point = scaling_studies.point_of(row, studies)
        efficiency = (point.efficiency, *(point.interval or ("", ""))) if point else ("", "", "")
        last = ["" if row.ranks is None else row.ranks, row.node or "", *efficiency, "; ".join(row.noisy)]
        writer.writerow([row.work, row.backend, row.runs, "; ".join(row.failed), *cells, *last])
    return target.getvalue()


def as_markdown(rows: Sequence[Row], studies: Sequence[Study] = ()) -> str:
    """A table of medians with their intervals, and one of each study; measures that no row has are left out.

    What its cells are is said below it.
    """
    names = [name for name in MEASURES if any(name in row.medians for row in rows)]
    keys = [("work", ":"), ("backend", ":")]
    if any(row.ranks for row in rows):
        keys.append(("ranks", ""))
    if len({row.node for row in rows}) > 1:
        keys.append(("node", ":"))
    lines = [
        "| " + " | ".join(key for key, _ in keys) + " | runs | " + " | ".join(MEASURES[name] for name in names) + " |",
        "| " + " | ".join("---" if left else "---:" for _, left in keys)
        + " | ---: | " + " | ".join("---:" for _ in names) + " |",
    ]  # fmt: skip
    for row in rows:
        cells = [_cell(row, name) for name in names]
        runs = f"{row.runs}" + (f" ({len(row.failed)} reasons to fail)" if len(row.failed) > 1 else "")
        key = [str(getattr(row, name) or "-") for name, _ in keys]
        lines.append("| " + " | ".join([*key, runs, *cells]) + " |")
    lines += ["", *_legend(rows)]
    failed = [f"- {_place(row)}: {reason}" for row in rows for reason in row.failed]
    if failed:
        lines += ["", "Failed:", "", *failed]
    unknown = [row for row in rows if row.ranks and row.runs and scaling_studies.point_of(row, studies) is None]
    if unknown:
        lines += ["", "Efficiency not measured:", "", *(f"- {_place(row)}: {_why_unknown(row)}" for row in unknown)]
    for study in studies:
        lines += ["", *_scaling(study)]
    return "\n".join(lines) + "\n"


def _legend(rows: Sequence[Row]) -> list[str]:
    """What the cells are; nothing where no run came to its end."""
    if not any(row.medians for row in rows):
        return []
    lines = ["Cells: the median of the runs."]
    if any(row.intervals for row in rows):
        lines = [
            "Cells: the median of the runs [its 95 % interval; of five runs and fewer that is the least to the most]."
        ]
    if any(row.noisy for row in rows):
        differ = f"the runs differ by more than {100 * NOISY_SHARE:.0f} % of the median"
        lines += ["", f"{_NOISY} noisy: {differ}. More runs (--repeat N) or a calmer machine tell more."]
    return lines


def _place(row: Row) -> str:
    """Which row it is, in a list."""
    ranks = "" if row.ranks is None else f" with {row.ranks} rank{'s' * (row.ranks > 1)}"
    return f"{row.work} on {row.backend}{ranks}"


def _why_unknown(row: Row) -> str:
    if "train_s" not in row.medians:
        return "no train steps were seen in all of its ranks (dlprof help own-loops)"
    return "there is no other number of ranks to compare it with"


def _scaling(study: Study) -> list[str]:
    """A study: a line per number of ranks, where the lost part went, the law, and the next doubling."""
    points = study.scaling.points
    parts = [part for part in LOST if any(part in point.lost for point in points)]
    where = f" on {study.node}" if study.node else ""
    title = f"{study.scaling.mode.capitalize()} scaling of {study.work} on {study.backend}{where}"
    lines = [
        f"{title}: steady training, mean of the ranks; what is lost beside the ideal, and where it is (s).",
        "",
        "| ranks | training (s) | speedup | efficiency | lost | " + " | ".join(parts) + " |",
        "| ---: | ---: | ---: | ---: | ---: | " + " | ".join("---:" for _ in parts) + " |",
    ]
    for point in points:
        interval = ""
        if point.interval is not None:
            interval = f" [{100 * point.interval[0]:.0f}, {100 * point.interval[1]:.0f}]"
        cells = [
            str(point.ranks),
            number(point.train_s),
            f"{point.speedup:.2f}",
            f"{100 * point.efficiency:.0f} %{interval}",
            number(point.lost_s) if point.lost else "-",
            *(number(point.lost[part]) if part in point.lost else "-" for part in parts),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *(f"{part}: {LOST[part]}" for part in parts)]
    law, finding = scaling_studies.law(study), scaling_studies.claim(study)
    if law is not None:
        lines += ["", f"Law: {law}.", str(scaling_studies.forecast(study))]
    if finding is not None:
        lines += ["", f"{SLUG}: {finding}"]
    return lines


def _cell(row: Row, name: str) -> str:
    if name not in row.medians:
        return "-"
    text = number(row.medians[name])
    if name in row.intervals:
        low, high = row.intervals[name]
        text += f" [{number(low)}, {number(high)}]"
    return f"{text} {_NOISY}" if name in row.noisy else text


def number(value: float) -> str:
    """Three significant digits."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
