"""A history as one object (`dlprof.history/1`): series of measures, and changes with their part of the run."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct, structs

from dlprof.analysis import compare
from dlprof.analysis.compare import Comparison, Side
from dlprof.analysis.findings.diagnose import diagnose_gap
from dlprof.bench import measures
from dlprof.bench.results import CellResult
from dlprof.errors import DlprofError, UsageError
from dlprof.history import changes
from dlprof.history.changes import METHOD, Change
from dlprof.history.repository import Commit
from dlprof.history.running import Measured, Wanted
from dlprof.pipeline.opening import open_run
from dlprof.schema.tree_paths import OWN_PATHS

SCHEMA = "dlprof.history/1"
TIMES = tuple(name for name in measures.MEASURES if name.endswith(("_s", "_ms")) and name != "samples_per_s")
"""Measures in which changes are looked for: less is better. The others follow from these, or are no times."""
COLUMNS = ("wall_s", "fit_s", "step_ms")
"""Measures of the text's table, which are told at a change though they did not change; all are in the JSON."""
MUCH_SHARE = 0.25
"""Other programs that use more of the machine make a run one that is left out, if enough others are left."""
_MORE_SHARE = 0.1
"""Other programs that use so much more of the machine on one side may be what made the difference."""
_FEW = 2
"""Runs of a commit that must be left where others are left out."""
_NAMED = 3
"""Files that are named where none that the benchmark may read has changed."""
_PARTS = 5
_COMMITS_A_SIDE = 3
"""Commits of one level whose runs are put together, next to a change: more runs, narrower intervals."""


class CommitReport(Struct, frozen=True):
    """A commit of the range."""

    commit: str
    """Its full name."""
    date: str
    subject: str
    measured: bool
    failed: tuple[str, ...]
    """Why runs of it failed, each reason once."""
    others_share: tuple[float, ...] = ()
    """Of each run that told it: what other programs used of the machine's cores."""


class Point(Struct, frozen=True):
    """A measure at a commit."""

    commit: str
    median: float
    values: tuple[float, ...]
    """Of each repeat."""
    left_out: int = 0
    """Further repeats, during which other programs used much of the machine."""


class SeriesReport(Struct, frozen=True):
    """A measure of a work over the commits that were measured."""

    work: str
    backend: str
    measure: str
    meaning: str
    """With its unit."""
    points: tuple[Point, ...]


class LevelChange(Struct, frozen=True):
    """A measure before and after a change: of each of its levels the median of the medians of its commits."""

    measure: str
    before: float
    after: float
    share: float
    """Growth, of what it was."""
    beyond_noise: bool = True
    """Whether the runs of both levels lie apart."""


class PartChange(Struct, frozen=True):
    """A part of the run that differs beyond noise between the commits around a change (ns)."""

    path: str
    before_ns: int
    after_ns: int
    delta_ns: int
    ci_ns: tuple[int, int] | None
    """95 % interval of the difference; None: there are too few runs."""


class CauseReport(Struct, frozen=True):
    """The costliest cause of the difference, as `dlprof diagnose AFTER BEFORE` has it."""

    slug: str
    title: str
    claim: str
    at_stake_ns: int
    file: str | None
    line: int | None
    next_step: str


class ChangeReport(Struct, frozen=True, kw_only=True):
    """A commit in which a work became slower, or faster."""

    work: str
    backend: str
    commit: str
    date: str
    subject: str
    before: str
    """The last commit that was measured before it."""
    between: int
    """Commits between the two that could not be measured: the change may be one of theirs."""
    measures: tuple[LevelChange, ...]
    """What changed: those beyond noise first, and of each kind the whole process first."""
    level_commits: tuple[int, int] = (1, 1)
    """How many commits the two levels of the first measure have: before, and from this commit on."""
    unchanged: tuple[LevelChange, ...] = ()
    """Main measures that kept their level: their medians at the commit before and at this one."""
    doubts: tuple[str, ...] = ()
    """Why the commit may not be to blame; none: the change is certain, and its parts and its cause are told."""
    parts: tuple[PartChange, ...]
    """Of the run, those that changed most first; none where runs cannot be compared, or none differs beyond noise."""
    why_no_parts: str | None
    cause: CauseReport | None
    """None: no finding explains the difference, or the commit is not slower."""


class HistoryReport(Struct, frozen=True, kw_only=True):
    """A benchmark over commits."""

    schema: str = SCHEMA
    name: str
    commits: tuple[CommitReport, ...]
    """Oldest first."""
    repeat: int
    series: tuple[SeriesReport, ...]
    changes: tuple[ChangeReport, ...]
    """Oldest first."""
    method: str = METHOD
    """How changes are found."""
    least_share: float
    """Smaller changes are not told."""


@dataclass(frozen=True)
class History:
    """What was measured so far.

    Attributes:
        what: What is measured.
        commits: All commits of the range, oldest first.
        least: Changes by a smaller share are not told.
    """

    what: Measured
    commits: Sequence[Commit]
    least: float

    def first(self, most: int) -> list[Wanted]:
        """So many commits at even distances, the first and the last among them."""
        runs = range(1, self.what.matrix.repeat + 1)
        return [Wanted(commit, runs) for commit in picked(self.commits, most)]

    def next(self) -> list[Wanted]:
        """Commits in the middle of those between which something changed: bisecting, until there are none.

        The two around each are run again beside it: the machine may be another one than when they were run first.
        """
        where = {commit.sha: index for index, commit in enumerate(self.commits)}
        measured = [commit for commit in self.commits if self.what.is_measured(commit)]
        middles, around = set(), set()
        for _, before, after, _ in self._changes(self._series(measured)):
            between = range(where[before.sha] + 1, where[after.sha])
            left = [n for n in between if self.commits[n] not in measured]
            if left:
                middles.add(left[len(left) // 2])
                around |= {where[before.sha], where[after.sha]}
        repeat = self.what.matrix.repeat
        again = [(self.commits[n], self.what.runs_of(self.commits[n]) + 1) for n in sorted(around)]
        return [
            *(Wanted(self.commits[n], range(1, repeat + 1)) for n in sorted(middles)),
            *(Wanted(commit, range(begin, begin + repeat)) for commit, begin in again),
        ]

    def report(self) -> HistoryReport:
        """All of it."""
        series = self._series(self.commits)
        return HistoryReport(
            name=self.what.matrix.name,
            commits=tuple(self._commit(commit) for commit in self.commits),
            repeat=self.what.matrix.repeat,
            series=tuple(self._as_report(key, points) for key, points in series.items()),
            changes=tuple(self._told(series)),
            least_share=self.least,
        )

    def _results(self, commit: Commit) -> list[CellResult]:
        return self.what.results(commit)

    def _commit(self, commit: Commit) -> CommitReport:
        results = self._results(commit)
        failed = dict.fromkeys(one.error for one in results if one.error)
        shares = tuple(one.others_share for one in results if one.others_share is not None)
        return CommitReport(commit.sha, commit.date, commit.subject, bool(results), tuple(failed), shares)

    def _quiet(self, commit: Commit, what: tuple[str, str]) -> list[CellResult]:
        """Runs of a work that came to their end; those beside much else are left out, if enough are left."""
        good = [one for one in self._results(commit) if not one.error and (one.work, one.backend) == what]
        quiet = [one for one in good if (one.others_share or 0) <= MUCH_SHARE]
        return quiet if len(quiet) >= max(_FEW, len(good) / 2) else good

    def _series(self, commits: Sequence[Commit]) -> Series:
        """(work, backend, measure) to what was measured at each of some commits that has it, in their order."""
        found: Series = {}
        for commit in commits:
            for work, backend in dict.fromkeys((one.work, one.backend) for one in self._results(commit)):
                own = [one.measures for one in self._quiet(commit, (work, backend))]
                for measure in measures.MEASURES:
                    values = tuple(value for one in own if (value := one.get(measure)) is not None)
                    if values:
                        found.setdefault((work, backend, measure), []).append((commit, values))
        return found

    def _as_report(self, key: Key, points: Sequence[tuple[Commit, tuple[float, ...]]]) -> SeriesReport:
        made = tuple(
            Point(commit.sha, statistics.median(values), values, self._left_out(commit, key[:2]))
            for commit, values in points
        )
        meanings: Mapping[str, str] = measures.MEASURES
        return SeriesReport(*key, meanings[key[2]], made)

    def _left_out(self, commit: Commit, what: tuple[str, str]) -> int:
        good = [one for one in self._results(commit) if not one.error and (one.work, one.backend) == what]
        return len(good) - len(self._quiet(commit, what))

    def _changes(self, series: Series) -> list[tuple[Key, Commit, Commit, Change]]:
        """Changes of each series, with the last measured commit before and the first after it."""
        return [
            (key, points[change.index - 1][0], points[change.index][0], change)
            for key, points in series.items()
            if key[2] in TIMES
            for change in changes.find([values for _, values in points], self.least)
        ]

    def _told(self, series: Series) -> list[ChangeReport]:
        """Changes by work and commit, oldest first, each with all measures that changed there."""
        found = self._changes(series)
        groups: dict[tuple[str, str, str, str], list[LevelChange]] = {}
        where = {commit.sha: index for index, commit in enumerate(self.commits)}
        for (work, backend, measure), before, after, change in found:
            level = LevelChange(measure, change.before, change.after, change.share, change.beyond_noise)
            groups.setdefault((work, backend, before.sha, after.sha), []).append(level)
        told = []
        for group in sorted(groups, key=lambda group: (where[group[3]], group)):
            work, backend, before_sha, after_sha = group
            commit = self.commits[where[after_sha]]
            levels = sorted(groups[group], key=lambda one: (not one.beyond_noise, TIMES.index(one.measure)))
            key = (work, backend, levels[0].measure)
            borders = {change.index for other, _, _, change in found if other == key}
            of_levels = _levels([commit.sha for commit, _ in series[key]], after_sha, borders)
            change_report = ChangeReport(
                work=work, backend=backend, commit=after_sha, date=commit.date, subject=commit.subject,
                before=before_sha, between=where[after_sha] - where[before_sha] - 1, measures=tuple(levels),
                level_commits=(len(of_levels[1]), len(of_levels[0])), unchanged=_unchanged(series, group, levels),
                doubts=tuple(self._doubts(group, levels, of_levels)), parts=(), why_no_parts=None, cause=None,
            )  # fmt: skip
            sides = of_levels[0][:_COMMITS_A_SIDE], of_levels[1][-_COMMITS_A_SIDE:]
            told.append(self._with_parts(change_report, (work, backend), sides))
        return told

    def _doubts(
        self, group: tuple[str, str, str, str], levels: Sequence[LevelChange], of_levels: tuple[Sequence[str], ...]
    ) -> Iterator[str]:
        """Why a commit may not be to blame.

        Args:
            group: Work, backend, the commit before it and the commit.
            levels: What changed.
            of_levels: Commits of the level from it on, and of the one before.
        """
        work, backend, before, after = group
        if not any(one.beyond_noise for one in levels):
            yield "within noise: runs of one commit differ as much, or are too few to tell"
        scripts = [one for one in self.what.matrix.work if one.name == work]
        unread = self.what.unnamed((before, after), scripts[0]) if scripts else None
        if unread is not None:
            more = f" and {len(unread) - _NAMED} more" if len(unread) > _NAMED else ""
            yield f"no file of the benchmark changed: {', '.join(unread[:_NAMED]) or 'nothing did'}{more}"
        new, old = (self._others_share((work, backend), shas) for shas in of_levels)
        if new is not None and old is not None and (new - old) * levels[0].share > 0 and abs(new - old) > _MORE_SHARE:
            yield f"other programs used {100 * old:.0f} % of the machine before, and {100 * new:.0f} % from it on"

    def _others_share(self, what: tuple[str, str], shas: Sequence[str]) -> float | None:
        """What other programs used of the machine on average, in the runs of some commits; None: not measured."""
        runs = [one for commit in self.commits if commit.sha in shas for one in self._quiet(commit, what)]
        shares = [one.others_share for one in runs if one.others_share is not None]
        return statistics.mean(shares) if shares else None

    def _with_parts(
        self, told: ChangeReport, what: tuple[str, str], sides: tuple[Sequence[str], Sequence[str]]
    ) -> ChangeReport:
        """The change with the parts of the run that differ.

        Args:
            told: The change.
            what: Work and backend.
            sides: Commits whose runs are put together: from the change on, and before it.
        """
        if told.doubts:
            return structs.replace(told, why_no_parts="the change is not certain")
        try:
            new, old = (self._side(label, what, shas) for label, shas in zip(("after", "before"), sides, strict=True))
            found = compare.compare(new, old)
        except DlprofError as error:
            return structs.replace(told, why_no_parts=error.message)
        if not found.parity.comparable:
            return structs.replace(told, why_no_parts="; ".join(found.parity.why_not))
        differ = (item for item in found.items if not item.noise and item.path not in OWN_PATHS)
        parts = sorted(differ, key=lambda item: -abs(item.delta_ns))[:_PARTS]
        return structs.replace(
            told,
            parts=tuple(PartChange(str(one.path), one.b_ns, one.a_ns, one.delta_ns, one.ci_ns) for one in parts),
            why_no_parts=None if parts else "no part differs beyond noise",
            cause=_cause(found),
        )

    def _side(self, label: str, what: tuple[str, str], shas: Sequence[str]) -> Side:
        """The runs of a work at some commits."""
        chosen = [commit for commit in self.commits if commit.sha in shas]
        good = {(one.sha, *_which(result)) for one in chosen for result in self._quiet(one, what)}
        folders = [
            self.what.results_of(commit).run(cell)
            for commit in chosen
            for cell in self.what.cells(range(1, self.what.runs_of(commit) + 1))
            if (cell.work.name, cell.backend) == what and (commit.sha, *what, cell.number) in good
        ]
        return Side(label, tuple(open_run(str(folder)) for folder in folders))


Key = tuple[str, str, str]
Series = dict[Key, list[tuple[Commit, tuple[float, ...]]]]
"""By work, backend and measure: what was measured at each commit."""


def picked(commits: Sequence[Commit], most: int) -> list[Commit]:
    """So many commits at even distances, the first and the last among them."""
    if most >= len(commits):
        return list(commits)
    step = (len(commits) - 1) / max(1, most - 1)
    return [commits[n] for n in sorted({round(step * number) for number in range(most)})]


def _which(result: CellResult) -> tuple[str, str, int]:
    return result.work, result.backend, result.number


def _levels(measured: Sequence[str], after: str, borders: Collection[int]) -> tuple[Sequence[str], Sequence[str]]:
    """The commits of the two levels at a change: from it on, and before it.

    Args:
        measured: All that were measured.
        after: The first one of the new level.
        borders: Where levels begin.
    """
    index = measured.index(after)
    begin = max([border for border in borders if border < index], default=0)
    end = min([border for border in borders if border > index], default=len(measured))
    return measured[index:end], measured[begin:index]


def _unchanged(
    series: Series, group: tuple[str, str, str, str], levels: Sequence[LevelChange]
) -> tuple[LevelChange, ...]:
    """Main measures that kept their level at a change, by the two commits alone."""
    work, backend, *commits = group
    told = []
    for measure in COLUMNS:
        medians = {one.sha: statistics.median(values) for one, values in series.get((work, backend, measure), ())}
        if measure not in {one.measure for one in levels} and all(medians.get(sha) for sha in commits):
            before, after = (medians[sha] for sha in commits)
            told.append(LevelChange(measure, before, after, after / before - 1, beyond_noise=False))
    return tuple(told)


def _cause(found: Comparison) -> CauseReport | None:
    try:
        findings = diagnose_gap(found).findings
    except UsageError:
        return None
    if not findings:
        return None
    one = findings[0]
    return CauseReport(one.slug, one.heading, one.claim, one.at_stake_ns, one.file, one.line, one.next_step)
