"""Tries settings: the script as it was and with each change, in turn, and what became of time, memory and loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dlprof.analysis import forecast, training
from dlprof.analysis.forecast import Forecast
from dlprof.analysis.what_if import Figures, Tried, figures_of, measure, others_pct, with_forecast
from dlprof.errors import DlprofError, Report
from dlprof.store.run import Run
from dlprof.trials import again
from dlprof.trials.consent import FOLDER
from dlprof.trials.settings import Change, taken

PROBES = "phases,cores"
"""Phases for the times, samples of the process for its memory; others would only disturb."""
_FOLDER = "try"


def tries(run: Run, changes: Sequence[Change], report: Report, *, repeats: int) -> list[Tried]:
    """Run the script as it was and with each change, round by round; the order turns each time.

    Args:
        run: A run of the script.
        changes: What to try.
        report: Takes a line for the user about each run.
        repeats: Rounds.

    Raises:
        DlprofError: The script cannot even be run as it was.
    """
    plain: list[Run] = []
    changed: list[list[Run]] = [[] for _ in changes]
    failed: dict[int, str] = {}

    def as_it_was(number: int) -> None:
        report(f"round {number}/{repeats}: as it was")
        plain.append(_run(run, f"as-it-was-{number:03d}"))

    def with_change(number: int, at: int) -> None:
        if at in failed:
            return
        report(f"round {number}/{repeats}: {changes[at].title}")
        try:
            changed[at].append(_run(run, f"change-{at + 1}-{number:03d}", changes[at]))
        except DlprofError as error:
            failed[at] = error.message
            report(f"  it cannot be tried: {error.message}")

    for number in range(1, repeats + 1):
        turn: list[Callable[[], None]] = [lambda number=number: as_it_was(number)]  # type: ignore[misc]
        turn += [lambda number=number, at=at: with_change(number, at) for at in range(len(changes))]  # type: ignore[misc]
        for each in turn if number % 2 else reversed(turn):
            each()
    figures = [figures_of(one) for one in plain]
    made = [_tried(run, change, figures, changed[at], failed.get(at)) for at, change in enumerate(changes)]
    others = others_pct([*plain, *(one for runs in changed for one in runs)])
    return [replace(one, others_pct=others) for one in made]


def _run(run: Run, name: str, change: Change | None = None) -> Run:
    place = run.folder.path / FOLDER / _FOLDER / name
    return again.run_again(run, place, change.remedy if change else None, probes=PROBES)


def _tried(run: Run, change: Change, plain: Sequence[Figures], changed: Sequence[Run], failed: str | None) -> Tried:
    told = training.of_run(run)
    expected = forecast.of_run(run, told, change.settings)
    after = [figures_of(one) for one in changed]
    measures = [] if failed else [measure(name, plain, after) for name in Figures.__dataclass_fields__]
    if isinstance(expected, Forecast):
        measures = [with_forecast(one, expected) for one in measures]
    seen = training.of_run(changed[0]) if changed else None
    return Tried(
        change.title,
        change.settings,
        change.remedy.environment,
        tuple(measures),
        {name: taken(name, value, seen) for name, value in change.settings.items()},
        expected if isinstance(expected, str) else None,
        failed,
        len(after),
    )
