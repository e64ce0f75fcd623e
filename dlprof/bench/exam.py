"""The exam of the rules: scripts with a planted cause, run with and without it, and what the diagnosis makes of them.

A truth file (TOML, see scenarios/faults/README.md) names cause, script and backends, and what plants the cause.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.analysis.findings.rules import RULES
from dlprof.backends import registry
from dlprof.bench import trials
from dlprof.errors import DlprofError, NoInputError, UsageError
from dlprof.opening import open_run
from dlprof.store.run import Run

REPEATS = 2
"""Rounds of runs with and without each cause, unless told otherwise."""
_MORE, _SETTLED = 2, 0.20
"""So many rounds more are made while the fastest two runs of a kind differ by more than this share of the cost."""
PAIRS = 12
"""Clean runs that are made twice, at most."""
FALSE_SHARE = 0.05
"""A finding above this share of the wall time, where nothing is wrong, is a false alarm."""
_KEYS = {"slug", "also", "about", "script", "backends", "arguments", "line", "fault", "environment"}
_ALL = "all"
"""Probes of a run that is diagnosed: those that a user gets."""
_OF_COST = "-kernels"
"""Probes of a run that a cost is taken from: the same without kernel windows, whose cost is known only roughly."""
_ENDS, _ENDS_SLUG = ("startup", "import", "teardown"), "import-heavy"
"""Phases that differ by a second as files are in the system's cache or not; they count where the cause is there."""
_CHANCE_SLUG = "iterator-restart"
"""A cause that comes and goes by itself, in most runs on TensorFlow."""
_LOCK = "exam.lock"
_PACES, _PACE_WORK, _PACES_AT_LEAST = "paces.txt", 2_000_000, 10
"""A fixed piece of work is timed before each run: how steady the machine was is part of the result."""
_BUSY = "while True:\n    pass"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Truth:
    """A planted cause on one backend.

    Attributes:
        name: Name of the truth file.
        slug: The cause.
        also: Other names that are right for it.
        script: The script.
        backend: Managed backend.
        arguments: Of both runs.
        environment: Variables of both runs.
        fault_arguments, fault_environment: What plants the cause.
        beside: Busy processes that run beside the faulty run.
        line: Text in the line that is to blame; None: there is no such line.
    """

    name: str
    slug: str
    also: tuple[str, ...]
    script: Path
    backend: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    fault_arguments: tuple[str, ...]
    fault_environment: Mapping[str, str]
    beside: int
    line: str | None

    def folder(self, *, faulty: bool) -> str:
        """Name of the folder of its runs; several truths may share the clean ones.

        It holds a digest of the script and of all that goes into a run: changed, it is another folder.
        """
        words = [self.script.stem, self.backend, *self.arguments, *(f"{k}={v}" for k, v in self.environment.items())]
        parts: list[object] = [_sources(self.script, set()), *words]
        if faulty:
            parts += [*self.fault_arguments, sorted(self.fault_environment.items()), self.beside]
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:8]
        name = "-".join(word.strip("-").replace("/", "_") for word in words)[:100]
        return f"fault-{self.name}-{self.backend}-{digest}" if faulty else f"clean-{name}-{digest}"


@dataclass(frozen=True)
class Answer:
    """What the diagnosis made of a planted cause.

    Attributes:
        truth: The cause.
        found: Slugs of the findings, ranked; without those of what comes and goes by chance.
        rank: Place of the planted cause, from 1 on; None: it was not found.
        at_stake_ns: Its time at stake, under all names that are right for it: no time is counted twice.
        cost_ns: What it really cost: the fastest faulty run less the fastest clean one; without dlprof's own time, and
            without what comes and goes by chance.
        doubt_ns: By how much the cost may be wrong: the second fastest runs less the fastest; None: one round only.
        line_found: Whether its line was named; None: there is none to name.
        failed: Why a run failed; None: both came to their end.
    """

    truth: Truth
    found: tuple[str, ...] = ()
    rank: int | None = None
    at_stake_ns: int | None = None
    cost_ns: int | None = None
    doubt_ns: int | None = None
    line_found: bool | None = None
    failed: str | None = None

    @property
    def error(self) -> float | None:
        """By how much the time at stake misses the cost, as a share of it."""
        if self.at_stake_ns is None or not self.cost_ns or self.cost_ns <= 0:
            return None
        return self.at_stake_ns / self.cost_ns - 1


@dataclass(frozen=True)
class CleanPair:
    """Two runs of the same thing.

    Attributes:
        name: Which.
        gap_ns: Their difference.
        findings: (slug, share of the wall time) of findings on either side.
        failed: Why a run failed, or None.
    """

    name: str
    gap_ns: int = 0
    findings: tuple[tuple[str, float], ...] = ()
    failed: str | None = None

    @property
    def false_alarm(self) -> bool:
        """Whether something was found above FALSE_SHARE."""
        return any(share > FALSE_SHARE for _, share in self.findings)


@dataclass(frozen=True)
class Result:
    """An exam.

    Attributes:
        spread: By how much the machine's speed varied, from tenth to tenth, as a share; None: not known.
    """

    answers: tuple[Answer, ...]
    pairs: tuple[CleanPair, ...] = field(default=())
    spread: float | None = None


def load(folder: Path, *, only: Sequence[str] = ()) -> list[Truth]:
    """Read the truth files of a folder.

    Args:
        folder: Where they are.
        only: Names of truth files, slugs or backends; empty: all.

    Raises:
        NoInputError: There are none.
        UsageError: One is wrong; the text says where.
    """
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise NoInputError(f"There is no truth file in {folder}.", hint="dlprof exam scenarios/faults")
    found = [truth for path in paths for truth in _read(path)]
    chosen = [one for one in found if not only or {one.name, one.slug, one.backend} & set(only)]
    if not chosen:
        raise UsageError(f"Nothing in {folder} is called {', '.join(only)}.", hint="names, slugs or backends")
    return chosen


def _read(path: Path) -> Iterator[Truth]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    unknown = sorted(content.keys() - _KEYS)
    if unknown:
        raise UsageError(f"{path}: unknown key {unknown[0]}.", hint=f"known: {', '.join(sorted(_KEYS))}")
    fault = content.get("fault", {})
    script = (path.parent / str(content.get("script", ""))).resolve()
    if content.get("slug") not in RULES:
        raise UsageError(f"{path}: there is no finding {content.get('slug')}.", hint=f"known: {', '.join(RULES)}")
    if not script.is_file():
        raise NoInputError(f"{path}: there is no script {content.get('script')}.")
    for backend in content.get("backends", []):
        registry.get(backend)
        yield Truth(
            path.stem, content["slug"], tuple(content.get("also", ())), script, backend,
            tuple(content.get("arguments", ())), content.get("environment", {}), tuple(fault.get("arguments", ())),
            fault.get("environment", {}), int(fault.get("beside", 0)), content.get("line"),
        )  # fmt: skip


def sit(truths: Sequence[Truth], folder: Path, say: Say, *, pairs: int = PAIRS, repeats: int = REPEATS) -> Result:
    """Run what is not run yet, and diagnose everything.

    Args:
        truths: The causes.
        folder: Keeps the runs; those that are there are not run again.
        say: Takes a line for the user at each run.
        pairs: Clean runs to make twice, at most.
        repeats: Rounds of runs: the fastest faulty one is diagnosed, and the fastest of each side give the cost. Two
            more are made at most where these differ too much; one round alone cannot tell.

    Raises:
        UsageError: Another exam is at work in the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        answers = []
        for number, truth in enumerate(truths, 1):
            say(f"{number}/{len(truths)} {truth.name} on {truth.backend} ({truth.slug})")
            answers.append(_answer(truth, folder, repeats))
            say(f"  {_told(answers[-1])}")
        clean = list({truth.folder(faulty=False): truth for truth in truths}.values())[:pairs]
        found = []
        for number, truth in enumerate(clean, 1):
            say(f"clean pair {number}/{len(clean)}: {truth.script.stem} on {truth.backend}")
            found.append(_clean_pair(truth, folder))
        return Result(tuple(answers), tuple(found), _spread(folder))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder of an exam: a second one in it would slow the first one's runs, and take them for its own."""
    with (folder / _LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"Another exam is at work in {folder}.", hint="wait for it: two at once on a machine spoil each other"
            ) from None
        yield


def _sources(script: Path, seen: set[Path]) -> str:
    """The text of a script and of the modules beside it that it imports."""
    seen.add(script)
    text = script.read_text(encoding="utf-8")
    named = re.findall(r"^\s*(?:import|from)\s+(\w+)", text, re.MULTILINE)
    beside = sorted({script.with_name(f"{name}.py") for name in named} - seen)
    return "\n".join([text, *(_sources(path, seen) for path in beside if path.is_file())])


def _told(answer: Answer) -> str:
    if answer.failed:
        return f"failed: {answer.failed}"
    error = "" if answer.error is None else f", time at stake {answer.error:+.0%}"
    cost = f"cost {answer.cost_ns / 1e9:.2f} s" if answer.cost_ns is not None else ""
    cost += f" ± {answer.doubt_ns / 1e9:.2f}" if answer.doubt_ns is not None else ""
    return f"rank {answer.rank or '-'} of {', '.join(answer.found[:4]) or 'nothing'}; {cost}{error}"


def _answer(truth: Truth, folder: Path, repeats: int) -> Answer:
    try:
        rounds = _rounds(truth, folder, repeats)
        faulty = _examined(truth, rounds).run
        found = _diagnose(truth, faulty, folder, repeats)
    except DlprofError as error:
        return Answer(truth, failed=error.message)
    findings = [one for one in found.findings if not _is_chance(one, truth)]
    slugs = tuple(finding.slug for finding in findings)
    right = [n for n, finding in enumerate(findings) if finding.slug in (truth.slug, *truth.also)]
    best = findings[right[0]] if right else None
    stake = sum(findings[n].at_stake_ns for n in right)
    line = None
    if truth.line is not None:
        line = best is not None and best.file is not None and truth.line in _text(faulty, best.file, best.line)
    return Answer(
        truth,
        slugs,
        right[0] + 1 if right else None,
        stake if best else None,
        _cost(truth, rounds),
        _doubt(rounds),
        line,
    )


@dataclass(frozen=True, order=True)
class Timed:
    """A run, and its time that counts (ns)."""

    ns: int
    run: Run = field(compare=False)


@dataclass(frozen=True)
class Round:
    """A run to be diagnosed, and a faulty and a clean one without kernel windows, one right after the other."""

    diagnosed: Timed
    faulty: Timed
    clean: Timed


def _rounds(truth: Truth, folder: Path, repeats: int) -> list[Round]:
    """So many rounds, those that are there already, and some more where the cost cannot be told by these."""
    rounds: list[Round] = []
    while (
        len(rounds) < repeats
        or _is_there(truth, folder, len(rounds) + 1)
        or (len(rounds) < repeats + _MORE and not _is_settled(truth, rounds))
    ):
        rounds.append(_round(truth, folder, len(rounds) + 1))
    return rounds


def _is_there(truth: Truth, folder: Path, number: int) -> bool:
    """Whether all runs of a round were made already."""
    faulty, clean = (folder / truth.folder(faulty=one) for one in (True, False))
    names = f"diagnosed-{number:03d}", f"cost-{number:03d}"
    return all(_finished(place) for place in (faulty / names[0], faulty / names[1], clean / names[1]))


def _finished(place: Path) -> Run | None:
    """A run that came to its end; None: it did not, or there is none."""
    with contextlib.suppress(DlprofError):
        run = open_run(str(place))
        if run.manifest["state"] == "finished":
            return run
    return None


def _round(truth: Truth, folder: Path, number: int) -> Round:
    return Round(
        _timed(truth, _run(truth, folder, f"diagnosed-{number:03d}", faulty=True)),
        _timed(truth, _run(truth, folder, f"cost-{number:03d}", _OF_COST, faulty=True)),
        _timed(truth, _run(truth, folder, f"cost-{number:03d}", _OF_COST, faulty=False)),
    )


def _timed(truth: Truth, run: Run) -> Timed:
    return Timed(_counted_ns(truth, run), run)


def _examined(truth: Truth, rounds: Sequence[Round]) -> Timed:
    """The run that is diagnosed: the fastest; for a cause that comes by chance, that in which it came most."""
    runs = [one.diagnosed for one in rounds]
    return max(runs) if truth.slug == _CHANCE_SLUG else min(runs)


def _cost(truth: Truth, rounds: Sequence[Round]) -> int:
    """What the cause costs, by the fastest runs: what else goes on in a machine only ever makes runs slower."""
    faulty = _examined(truth, rounds).ns if truth.slug == _CHANCE_SLUG else _faulty(rounds)[0]
    return faulty - _clean(rounds)[0]


def _doubt(rounds: Sequence[Round]) -> int | None:
    """By how much the second fastest runs differ from the fastest: they would be equal on a steady machine."""
    if len(rounds) < 2:
        return None
    return sum(times[1] - times[0] for times in (_faulty(rounds), _clean(rounds)))


def _is_settled(truth: Truth, rounds: Sequence[Round]) -> bool:
    doubt = _doubt(rounds)
    return doubt is None or doubt <= _SETTLED * _cost(truth, rounds)


def _faulty(rounds: Sequence[Round]) -> list[int]:
    return sorted(timed.ns for one in rounds for timed in (one.diagnosed, one.faulty))


def _clean(rounds: Sequence[Round]) -> list[int]:
    return sorted(one.clean.ns for one in rounds)


def _counted_ns(truth: Truth, run: Run) -> int:
    """Time of a run without what comes and goes by chance, be the cause there or not (ns)."""
    net = trials.net_ns(run)
    if truth.slug != _ENDS_SLUG:
        net -= sum(row["dur_ns"] for row in run.rows("phases") if row["phase"] in _ENDS)
    if truth.backend == "tensorflow":
        net -= sum(found.at_stake_ns for found in diagnose.diagnose(run).findings if _is_chance(found, truth))
    return net


def _is_chance(found: Finding, truth: Truth) -> bool:
    """Whether a finding is of what comes and goes by itself, and was not planted: a true one, but no answer."""
    return found.slug == _CHANCE_SLUG != truth.slug


def _diagnose(truth: Truth, faulty: Run, folder: Path, repeats: int) -> Diagnosis:
    if truth.slug != "slow-kernel":
        return diagnose.diagnose(faulty)
    runs = (_run(truth, folder, f"diagnosed-{number:03d}", faulty=False) for number in range(1, repeats + 1))
    clean = min(_timed(truth, run) for run in runs).run
    return diagnose.diagnose_gap(compare.compare(Side("faulty", (faulty,)), Side("clean", (clean,))))


def _text(run: Run, file: str, line: int | None) -> str:
    """The text of a line, and of those around it that belong to the same statement."""
    lines = run.folder.source_lines(file)
    return "\n".join(lines[max(0, (line or 1) - 2) : (line or 0) + 1])


def _clean_pair(truth: Truth, folder: Path) -> CleanPair:
    name = f"{truth.script.stem} on {truth.backend}"
    try:
        one, two = (_run(truth, folder, place, faulty=False) for place in ("diagnosed-001", "again"))
    except DlprofError as error:
        return CleanPair(name, failed=error.message)
    found: list[tuple[str, float]] = []
    for a, b in ((one, two), (two, one)):
        gap = compare.compare(Side("a", (a,)), Side("b", (b,)))
        wall = max(gap.a_wall_ns, gap.b_wall_ns)
        found.extend((f.slug, f.at_stake_ns / wall) for f in diagnose.diagnose_gap(gap).findings)
    return CleanPair(name, trials.net_ns(one) - trials.net_ns(two), tuple(found))


def _run(truth: Truth, folder: Path, name: str, probes: str = _ALL, *, faulty: bool) -> Run:
    """A run of the script; one that is there, and came to its end, is taken as it is."""
    place = folder / truth.folder(faulty=faulty) / name
    run = _finished(place)
    if run is not None:
        return run
    extra = truth.fault_arguments if faulty else ()
    environment = {**os.environ, **truth.environment, **(truth.fault_environment if faulty else {})}
    command = [
        sys.executable, "-m", "dlprof", "trace", str(truth.script), "--backend", truth.backend, "-o", str(place),
        f"--probes={probes}", "--no-report", "--no-progress", "--", *truth.arguments, *extra,
    ]  # fmt: skip
    _note_pace(folder)
    with _busy(truth.beside if faulty else 0):
        trials.run_into(place, command, environment)
    return open_run(str(place))


def _note_pace(folder: Path) -> None:
    """Note how long a fixed piece of work takes just now (ns)."""
    started = time.perf_counter_ns()
    sum(number * number for number in range(_PACE_WORK))
    with (folder / _PACES).open("a", encoding="utf-8") as file:
        file.write(f"{time.perf_counter_ns() - started}\n")


def _spread(folder: Path) -> float | None:
    """By how much the slowest tenth of the machine's paces lies above the fastest tenth; None: too few are known."""
    with contextlib.suppress(OSError, ValueError):
        paces = sorted(int(line) for line in (folder / _PACES).read_text(encoding="utf-8").split())
        if len(paces) >= _PACES_AT_LEAST:
            tenth = len(paces) // 10
            return paces[-1 - tenth] / paces[tenth] - 1
    return None


@contextlib.contextmanager
def _busy(count: int) -> Iterator[None]:
    """Keep so many processes busy meanwhile."""
    beside = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in beside:
            process.kill()
            process.wait()


@dataclass(frozen=True)
class Row:
    """Figures of one rule. None: there was no case to take them from.

    Attributes:
        slug: The rule.
        cases: Planted causes of that name that ran.
        first: How many of them were ranked first.
        recall: Share that was found at all.
        precision: Of the findings of that name that were ranked first, the share that was planted.
        rank: Mean rank of those found.
        error: Median of the absolute error of the time at stake, as a share of the cost.
        within: Share of the cases whose time at stake is within 20 % of the cost.
    """

    slug: str
    cases: int
    first: int
    recall: float | None
    precision: float | None
    rank: float | None
    error: float | None
    within: float | None


def rows(result: Result) -> list[Row]:
    """Figures of every rule that was examined or spoke first, and of all together (slug `all`)."""
    ran = [answer for answer in result.answers if not answer.failed]
    slugs = sorted({answer.truth.slug for answer in ran} | {answer.found[0] for answer in ran if answer.found})
    return [*(_row(slug, ran) for slug in slugs), _row(None, ran)]


def _row(slug: str | None, ran: Sequence[Answer]) -> Row:
    own = [answer for answer in ran if slug in (None, answer.truth.slug)]
    spoke = [answer for answer in ran if answer.found and slug in (None, answer.found[0])]
    right = [answer for answer in spoke if answer.found[0] in (answer.truth.slug, *answer.truth.also)]
    ranks = [answer.rank for answer in own if answer.rank]
    errors = [abs(answer.error) for answer in own if answer.error is not None]
    return Row(
        slug or "all", len(own), sum(1 for rank in ranks if rank == 1), len(ranks) / len(own) if own else None,
        len(right) / len(spoke) if spoke else None, statistics.mean(ranks) if ranks else None,
        statistics.median(errors) if errors else None,
        sum(1 for error in errors if error <= 0.2) / len(own) if own else None,
    )  # fmt: skip


def as_json(result: Result) -> dict[str, Any]:
    """The exam as one JSON object (`dlprof.exam/1`)."""
    return {
        "schema": "dlprof.exam/1",
        "cases": [
            {
                "name": answer.truth.name, "slug": answer.truth.slug, "backend": answer.truth.backend,
                "found": list(answer.found), "rank": answer.rank, "at_stake_ns": answer.at_stake_ns,
                "cost_ns": answer.cost_ns, "cost_doubt_ns": answer.doubt_ns, "error": answer.error,
                "line_found": answer.line_found, "failed": answer.failed,
            }
            for answer in result.answers
        ],
        "rules": [vars(row) for row in rows(result)],
        "machine_spread": result.spread,
        "clean_pairs": [
            {"name": pair.name, "gap_ns": pair.gap_ns, "findings": [list(one) for one in pair.findings],
             "false_alarm": pair.false_alarm, "failed": pair.failed}
            for pair in result.pairs
        ],
    }  # fmt: skip


def as_markdown(result: Result) -> str:
    """The exam as two tables: rules, and cases."""
    lines = [
        "| rule | cases | first | found | precision | mean rank | median error | within 20 % |",
        "| --- " + "| ---: " * 7 + "|",
    ]
    for row in rows(result):
        cells = [
            row.slug, str(row.cases), str(row.first), _percent(row.recall), _percent(row.precision),
            "-" if row.rank is None else f"{row.rank:.1f}", _percent(row.error), _percent(row.within),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| case | backend | planted | first finding | rank | cost (s) | ± | at stake (s) | error | line |",
              "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"]  # fmt: skip
    lines += [_case(answer) for answer in result.answers]
    if result.spread is not None:
        longer = _percent(result.spread)
        lines += [
            "",
            f"The same work took up to {longer} longer at one time than at another, the extreme tenths left out.",
        ]
    alarms = [pair for pair in result.pairs if pair.false_alarm]
    if result.pairs:
        lines += [
            "",
            f"Clean pairs: {len(result.pairs)}, with a finding above {FALSE_SHARE:.0%} of wall: {len(alarms)}.",
        ]
        lines += [
            f"- {pair.name}: {', '.join(f'{slug} {share:.0%}' for slug, share in pair.findings)}" for pair in alarms
        ]
    return "\n".join(lines) + "\n"


def _case(answer: Answer) -> str:
    times = (answer.cost_ns, answer.doubt_ns, answer.at_stake_ns)
    seconds = ["-" if ns is None else f"{ns / 1e9:.2f}" for ns in times]
    line = {None: "-", True: "yes", False: "no"}[answer.line_found]
    first = f"failed: {answer.failed}" if answer.failed else answer.found[0] if answer.found else "nothing"
    cells = [
        answer.truth.name, answer.truth.backend, answer.truth.slug, first, str(answer.rank or "-"), *seconds,
        "-" if answer.error is None else f"{answer.error:+.0%}", line,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"
