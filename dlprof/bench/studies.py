"""Scaling studies in a benchmark: rows that differ in the number of ranks alone, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlprof.analysis import scaling
from dlprof.analysis.scaling import LOST, Point, Scaling, Times
from dlprof.bench.matrix import Matrix
from dlprof.bench.measures import Row
from dlprof.bench.results import CellResult
from dlprof.units import duration


@dataclass(frozen=True)
class Study:
    """The runs of a work on a backend and a machine, with several numbers of ranks.

    Attributes:
        work, backend, node: Which.
        scaling: What they tell.
    """

    work: str
    backend: str
    node: str | None
    scaling: Scaling


def of_results(results: Sequence[CellResult], matrix: Matrix) -> list[Study]:
    """Every study of a benchmark, sorted; of runs that came to their end, and whose steps are known."""
    modes = {work.name: work.axis.scaling for work in matrix.work if work.axis is not None}
    groups: dict[tuple[str, str, str], dict[int, list[Times]]] = {}
    for result in results:
        if result.ranks is None or result.error or result.work not in modes:
            continue
        train = result.measures.get("train_s")
        if train:
            by_ranks = groups.setdefault((result.work, result.backend, result.node or ""), {})
            by_ranks.setdefault(result.ranks, []).append(_times(train, result.measures))
    studies = []
    for (work, backend, node), runs in sorted(groups.items()):
        found = scaling.of_runs(runs, modes[work])
        if found is not None:
            studies.append(Study(work, backend, node or None, found))
    return studies


def _times(train: float, measured: Mapping[str, float | None]) -> Times:
    parts = ("input", "wait", "transfer", "kernels", "contention")
    return Times(train, **{name: measured.get(f"train_{name}_s") for name in parts})


def point_of(row: Row, studies: Sequence[Study]) -> Point | None:
    """What a row is in its study; None: it is in none."""
    for study in studies:
        if (study.work, study.backend, study.node) == (row.work, row.backend, row.node):
            return next((point for point in study.scaling.points if point.ranks == row.ranks), None)
    return None


def law(study: Study) -> str | None:
    """The fitted law, in a line; None: there are too few numbers of ranks."""
    found, base = study.scaling.law, study.scaling.points[0]
    if found is None:
        return None
    times = "n" if base.ranks == 1 else f"n = ranks / {base.ranks}"
    ideal = f"{_s(base.train_s)} / n" if study.scaling.mode == "strong" else _s(base.train_s)
    text = f"{ideal} + {_s(found.fixed_s)} (n - 1) / n + {_s(found.each_s)} (n - 1)"
    if times != "n":
        text += f", {times}"
    if found.serial_share is not None:
        text += f"; Amdahl's serial share {100 * found.serial_share:.1f} %"
    return f"{text}; at most {_s(found.worst_s)} beside what was measured"


def forecast(study: Study) -> str | None:
    """What the next doubling would bring, in a sentence; None: there is no law."""
    told = study.scaling.forecast
    if told is None:
        return None
    last = study.scaling.points[-1]
    interval = ""
    if told.interval is not None:
        interval = f" [{100 * told.interval[0]:.0f}, {100 * told.interval[1]:.0f}]"
    return (
        f"By this law {told.ranks} ranks would do {told.gain:.2f} times the work of {last.ranks} in the same time, "
        f"with an efficiency of {100 * told.efficiency:.0f} %{interval}."
    )


def claim(study: Study) -> str | None:
    """The finding `scaling-limited`, in a sentence; None: little is lost, or there are too few numbers of ranks."""
    part, last, base = study.scaling.limited_by, study.scaling.points[-1], study.scaling.points[0]
    if part is None or study.scaling.law is None:
        return None
    where = f"{study.work} on {study.backend}" + (f" ({study.node})" if study.node else "")
    done = f"{last.ranks} ranks do {last.speedup:.2f} times the work of {base.ranks} in the same time"
    lost = f"Of {_s(last.lost_s)} that are lost in each rank's {_s(last.train_s)} of training"
    efficiency = f"an efficiency of {100 * last.efficiency:.0f} %"
    return f"{where}: {done}, {efficiency}. {lost}, {_s(last.lost[part])} are {LOST[part]}."


def _s(seconds: float) -> str:
    return duration(seconds * 1e9)
