"""`dlprof diagnose`: the causes of a run's time, or of the gap between two runs, ranked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.analysis.findings.finding import Diagnosis
    from dlprof.analysis.parity import Parity
    from dlprof.store.ranked import RankedRun
    from dlprof.store.run import Run

EXAMPLES = """\
examples:
  dlprof diagnose last                           why does it take that long?
  dlprof diagnose runs/tensorflow runs/mxnet     why is the first slower than the second?
  dlprof diagnose last --evidence                with the rows behind each finding
  dlprof diagnose last --confirm                 try the remedies that need no change to your files
  dlprof diagnose last --json

Every finding has the time at stake: what its remedy would save. No time is counted twice. A rule that
lacks what it needs to know says so (--evidence). `dlprof help findings` describes every finding,
`dlprof help exam` tells how often they are right."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    runs: Sequence[str]
    evidence: bool
    confirm: bool
    repeat: int
    yes: bool
    json: bool
    plain: bool


@dataclass(frozen=True)
class Diagnosed:
    """A diagnosis, and what is said of it.

    Attributes:
        run: The run, or the slow one of two: remedies are tried on it.
        diagnosis: Its causes.
        title: What was diagnosed.
        note: A sentence before the findings.
        names: The run, or the slow one and the fast one.
        parity: Whether two runs did the same work; None for one run.
        failed_at_once: It failed before there was anything to explain: where its time went is no answer then.
        doubts: What makes the gap between two runs doubtful, a clause each.
    """

    run: Run
    diagnosis: Diagnosis
    title: str
    note: str
    names: tuple[str, ...]
    parity: Parity | None
    failed_at_once: bool = False
    doubts: tuple[str, ...] = ()


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="*",
        default=("last",),
        help="a run (default: `last`); or the slow one and the fast one (each may be repeats)",
    )
    parser.add_argument("--evidence", action="store_true", help="show rows and queries, and what could not be judged")
    parser.add_argument(
        "--confirm", action="store_true", help="try the remedies: run the script again with and without them"
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds of --confirm (default: 3)")
    parser.add_argument("--yes", action="store_true", help="do not ask before --confirm runs the script")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.diagnose/1, see `dlprof help json`)")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")


def run(args: Arguments) -> int:
    """Print the findings."""
    from dlprof.errors import UsageError
    from dlprof.trials import confirm

    if len(args.runs) > 2:
        raise UsageError("A diagnosis takes one run, or two.", hint="dlprof compare takes more")
    diagnosed = _run(args.runs[0]) if len(args.runs) == 1 else _gap(args.runs)
    if args.confirm:
        _confirm(args, diagnosed)
    _print(args, replace(diagnosed, diagnosis=confirm.with_trials(diagnosed.run, diagnosed.diagnosis)))
    return 0


def _print(args: Arguments, diagnosed: Diagnosed) -> None:
    if args.json:
        from dlprof.report import diagnosis_json
        from dlprof.report.json_text import print_json

        print_json(diagnosis_json.as_json(diagnosed.diagnosis, diagnosed.names, diagnosed.parity, diagnosed.doubts))
        return
    from dlprof.report import diagnosis_text

    diagnosis = diagnosed.diagnosis
    diagnosis_text.print_diagnosis(
        replace(diagnosis, rest=()) if diagnosed.failed_at_once else diagnosis,
        diagnosed.title,
        file=sys.stdout,
        evidence=args.evidence,
        plain=args.plain,
        note=diagnosed.note,
    )


def _run(name: str) -> Diagnosed:
    """Where a run loses time."""
    from dlprof.analysis.findings import diagnose
    from dlprof.pipeline import ranked
    from dlprof.pipeline.opening import open_run
    from dlprof.units import duration

    ranks = ranked.find(name)
    if ranks is not None and ranks.members:
        return _of_ranks(ranks)
    opened = open_run(name)
    title = f"Where {opened.name} loses time, of {duration(opened.wall_ns)}"
    note, failed_at_once = _of_its_end(opened)
    return Diagnosed(opened, diagnose.diagnose(opened), title, note, (opened.name,), None, failed_at_once)


def _of_its_end(run: Run) -> tuple[str, bool]:
    """What its report says first of a script that failed; and whether it did before there was anything to explain."""
    if not run.manifest.process.exit_code and not run.manifest.process.signal:
        return "", False
    from dlprof.report import no_training, summary, verdict

    report = summary.summarise(run, in_short=True)
    if no_training.failed_at_once(report):
        return no_training.failure(report), True
    return verdict.failed(report).strip(), False


def _of_ranks(ranks: RankedRun) -> Diagnosed:
    """What the ranks of a training lose to each other; what each loses by itself its own run tells."""
    from dlprof.analysis import ranks as analysis
    from dlprof.analysis.findings import of_ranks
    from dlprof.report import ranks_causes
    from dlprof.units import duration

    summary = analysis.of_run(ranks)
    found = of_ranks.look(ranks, summary)
    member = ranks_causes.shown(ranks, summary)
    title = f"What the {len(ranks.members)} ranks of {ranks.name} lose to each other, of {duration(found.whole_ns)}"
    note = f"What a rank loses by itself: dlprof diagnose {ranks.typed}/{ranks.path_of(member)}"
    return Diagnosed(member.run, found, title, note, (ranks.name,), None)


def _gap(names: Sequence[str]) -> Diagnosed:
    """Why the first of two runs is the slower one."""
    from dlprof.analysis import compare
    from dlprof.analysis.findings import diagnose
    from dlprof.pipeline.opening import open_sides
    from dlprof.report import gap_words

    a, b = open_sides(names)
    gap = compare.compare(a, b)
    notes = [f"Not comparable, because {'; '.join(gap.parity.why_not)}."] if gap.parity.why_not else []
    if gap.parity.same_run:
        notes += [f"What helps with {what}" for what in gap.parity.advice]
    notes.append(gap_words.verdict(gap))
    is_slower = gap.gap_ns > 0 and not gap.noise and gap.parity.comparable and not gap.doubts
    if not is_slower and gap.longer_in_b:
        notes.append(
            f"For what takes longer in {gap_words.names(a.label, b.label)[1]}: dlprof diagnose {names[1]} {names[0]}."
        )
    one, two = gap_words.introduced(a.label, b.label)
    return Diagnosed(
        run=a.runs[0],
        diagnosis=diagnose.diagnose_gap(gap),
        title=f"Why {one} is slower than {two}" if is_slower else f"What takes longer in {one} than in {two}",
        note=" ".join(notes),
        names=(a.runs[0].name, b.runs[0].name),
        parity=gap.parity,
        doubts=gap_words.doubts(gap),
    )


def _confirm(args: Arguments, diagnosed: Diagnosed) -> None:
    """Try what can be tried, if the user agrees."""
    from dlprof.cli.agreeing import agreed
    from dlprof.errors import UsageError
    from dlprof.launch import children, system
    from dlprof.report import finding_words
    from dlprof.report.say import say
    from dlprof.trials import again, confirm

    system.need_linux("dlprof diagnose --confirm")
    if not 1 <= args.repeat <= 100:
        raise UsageError(f"--repeat must lie between 1 and 100, not {args.repeat}.")
    findings = confirm.candidates(diagnosed.diagnosis)
    if not findings:
        say("nothing to try: no finding of 5 % or more has a remedy that leaves your files alone")
        return
    minutes = again.seconds(diagnosed.run, len(findings), args.repeat) / 60
    what = "; ".join(f"{finding.slug}: {finding.remedy.title}" for finding in findings if finding.remedy)
    say(f"to try: {what}; the script runs {(len(findings) + 1) * args.repeat} times, about {minutes:.1f} min")
    if not agreed(diagnosed.run, "--confirm", yes=args.yes):
        say("nothing was run")
        return
    with children.ending_on_sigterm():
        trials = confirm.tries(diagnosed.run, findings, say, repeats=args.repeat)
    for trial in trials:
        say(f"{trial.slug}: {finding_words.state(trial.state)}")
