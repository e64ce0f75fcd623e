"""A history as text: a table of commits for each work, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dlprof.bench.tables import number
from dlprof.history.report import COLUMNS, MUCH_SHARE, ChangeReport, HistoryReport, LevelChange, SeriesReport
from dlprof.units import duration, safe

_BAR = 20
_SUBJECT = 44


def as_text(found: HistoryReport) -> str:
    """The table of each work, then the changes, oldest first."""
    works = dict.fromkeys((one.work, one.backend) for one in found.series)
    lines = [line for work, backend in works for line in (*_table(found, work, backend), "")]
    lines += [line for told in of_others(found) for line in (told, "")]
    if not found.changes:
        lines += [f"Nothing changed by {100 * found.least_share:g} % or more.", *_of_one_run(found)]
    for change in found.changes:
        lines += [*_change(change), ""]
    failed = [f"{one.commit[:12]} failed: {safe(why)}" for one in found.commits for why in one.failed]
    return "\n".join([*lines, *failed]).rstrip() + "\n"


def lead(change: ChangeReport) -> str:
    """What a commit did: `made`, or `perhaps made` where that is in doubt."""
    return "perhaps made" if change.doubts else "made"


def of_others(found: HistoryReport) -> Iterator[str]:
    """What other programs did meanwhile: runs that were left out, and much that could not be left out."""
    much = f"{100 * MUCH_SHARE:g} % of the machine"
    left_out = {(one.work, one.backend, at.commit): at.left_out for one in found.series for at in one.points}
    count = sum(left_out.values())
    if count:
        were = "runs were" if count > 1 else "run was"
        yield f"{count} {were} left out: other programs used more than {much} meanwhile."
    shares = [share for one in found.commits for share in one.others_share]
    loaded = [share for share in shares if share > MUCH_SHARE]
    if len(loaded) > count:
        yield (
            f"Other programs used more than {much} in {len(loaded)} of {len(shares)} runs, up to "
            f"{100 * max(loaded):.0f} %: times are longer and differ more than alone."
        )


def _of_one_run(found: HistoryReport) -> Iterator[str]:
    """What no change can be told from, where commits were measured once."""
    if found.series and all(len(point.values) < 2 for one in found.series for point in one.points):
        yield "Each commit has one run: how far runs of one commit differ is not known; --repeat 3 tells it."


def _table(found: HistoryReport, work: str, backend: str) -> Iterator[str]:
    own = {one.measure: one for one in found.series if (one.work, one.backend) == (work, backend)}
    columns = [name for name in COLUMNS if name in own]
    most_runs = max(len(point.values) for one in own.values() for point in one.points)
    count = f"{found.repeat} run{'s' if found.repeat > 1 else ''}{' or more' if most_runs > found.repeat else ''}"
    yield f"{safe(work)} on {safe(backend)}: medians of {count}"
    yield f"  {'commit':<12}  {'date':<10}  {'  '.join(f'{name:>8}' for name in columns)}"
    values = {name: _medians(own[name]) for name in columns}
    most = max(values[columns[0]].values(), default=1.0) or 1.0
    changed = {one.commit: one for one in found.changes if (one.work, one.backend) == (work, backend)}
    for commit in found.commits:
        if not commit.measured:
            continue
        cells = "  ".join(f"{_cell(values[name].get(commit.commit)):>8}" for name in columns)
        bar = "#" * round(_BAR * values[columns[0]].get(commit.commit, 0) / most)
        mark = f" <- {_shares(changed[commit.commit])}" if commit.commit in changed else ""
        subject = safe(commit.subject)[:_SUBJECT]
        yield f"  {commit.commit[:12]}  {commit.date[:10]}  {cells}  {bar:<{_BAR}}  {subject}{mark}".rstrip()


def _medians(series: SeriesReport) -> Mapping[str, float]:
    return {point.commit: point.median for point in series.points}


def _cell(value: float | None) -> str:
    return "-" if value is None else number(value)


def _shares(change: ChangeReport) -> str:
    one = change.measures[0]
    return f"{'perhaps ' if change.doubts else ''}{one.measure} {100 * one.share:+.1f} %"


def _change(change: ChangeReport) -> Sequence[str]:
    word = "slower" if change.measures[0].share > 0 else "faster"
    what = f"{safe(change.work)} on {safe(change.backend)}"
    lines = [f"{change.commit[:12]} {lead(change)} {what} {word}: {safe(change.subject)}"]
    lines += [f"  {safe(doubt)}" for doubt in change.doubts]
    lines += [_level(one, "" if one.beyond_noise else ", within noise") for one in change.measures]
    lines += [_level(one, ", no change of its level (these two commits alone)") for one in change.unchanged]
    if max(change.level_commits) > 1:
        before, after = change.level_commits
        lines.append(f"  (medians of the levels' medians: {_commits(before)} before, {_commits(after)} from it on)")
    if change.between:
        lines.append(
            f"  or one of the {_commits(change.between)} after {change.before[:12]}, which could not be measured"
        )
    for part in change.parts:
        interval = f", 95 % {duration(part.ci_ns[0])} to {duration(part.ci_ns[1])}" if part.ci_ns else ""
        times = f"{duration(part.before_ns)} to {duration(part.after_ns)}"
        lines.append(f"  {part.path}: {times}, {'+' if part.delta_ns > 0 else ''}{duration(part.delta_ns)}{interval}")
    if change.why_no_parts:
        lines.append(f"  by parts: not told, because {safe(change.why_no_parts)}")
    if change.cause:
        place = f" at {change.cause.file}:{change.cause.line}" if change.cause.file else ""
        lines.append(f"  cause{safe(place)}: {safe(change.cause.claim)}")
    return lines


def _level(one: LevelChange, remark: str) -> str:
    return f"  {one.measure:<16} {number(one.before):>8} to {number(one.after):>8}  {100 * one.share:+.1f} %{remark}"


def _commits(count: int) -> str:
    return f"{count} commit{'s' if count > 1 else ''}"
