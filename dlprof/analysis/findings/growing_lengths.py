"""Models whose input is seen to grow call by call: what the time of the calls that follows the length is spent on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dlprof.analysis import growing_inputs, source_sequences
from dlprof.analysis.findings.calls import Call
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.grown_sequences import SAVES
from dlprof.analysis.findings.title import Title
from dlprof.analysis.growing_inputs import Growing
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Basis, Ground
from dlprof.units import duration

_TITLE = Title("A model ran anew over all of a sequence for each new piece", "running a model over what it ran over")
_SHARE_OF_WORK = 0.10
_NOT_SEEN = 0.6
"""What is left of the agreement where the source does not show that what the model gave is put to its input: texts that
are sorted by their length grow, too.
"""
_BEHIND = 0.5
"""Agreement where the device computes behind the calls, so that how its time follows the length is not known."""
_QUERY = Query(
    "models that were called with the input before and a piece more",
    "SELECT name AS model, file, line, count(*) AS sequences, sum(CAST(json_extract(detail, '$.growing.calls') AS "
    "BIGINT)) AS calls, sum(dur_ns) AS ns FROM spans WHERE kind = 'growing_input' GROUP BY ALL ORDER BY ns DESC "
    "LIMIT 8",
)


def claims(case: Case) -> Iterator[Claim]:
    """One for each line that has enough of the work."""
    for one, by_phase in _told(case):
        yield _claim(case, one, case.spread(by_phase))


def told_of(case: Case, calls: Sequence[Call] | None = None) -> Counter[TreePath]:
    """What is told so, by phase (ns): of sequences that some calls have, or are a part of (`predict`); None: all."""
    told: Counter[TreePath] = Counter()
    for one, by_phase in _told(case):
        if calls is None or any(
            begin < call.end_ns and call.begin_ns < end for begin, end in one.intervals for call in calls
        ):
            told.update(by_phase)
    return told


def settled(case: Case) -> set[SourceLine]:
    """Lines whose input grows, of which the times tell that little or nothing follows from it."""
    least = _SHARE_OF_WORK * case.work_ns
    found = growing_inputs.of_run(case.run) if not case.pair else ()
    return {(one.file, one.line) for one in found if not one.is_behind and one.most_ns < least}


def _told(case: Case) -> Iterator[tuple[Growing, dict[TreePath, int]]]:
    """Lines with enough of the work, and what would be saved of it by the phases that their sequences were in (ns)."""
    for one in growing_inputs.of_run(case.run) if not case.pair else ():
        saved_ns = _saved_behind(one) if one.is_behind else one.saved_ns
        share = saved_ns / max(1, one.total_ns)
        by_phase = {phase: int(share * ns) for phase, ns in case.phases.of(one.intervals).items()}
        if (one.unsure < 1 or one.is_behind) and sum(by_phase.values()) >= _SHARE_OF_WORK * case.work_ns:
            yield one, by_phase


def _saved_behind(one: Growing) -> float:
    """Where the times between the calls do not tell it: what all pieces but the newest one take (ns)."""
    return SAVES * (one.total_ns + one.waited_ns) * (1 - one.step / max(one.step, one.mean))


def _claim(case: Case, one: Growing, takes: dict[TreePath, int]) -> Claim:
    count, name = len(one.intervals), source_sequences.grown_at(case.code.lines(one.file), one.line)
    what = f"all of {name}" if name else "all of a sequence"
    return Claim(
        Sentence(
            f"{one.model} runs over {what} for each new piece: {one.calls} calls in {count} "
            f"sequence{'s' if count > 1 else ''}, whose input grows from {one.first} to {one.last} by {one.step} each "
            f"time, {duration(one.total_ns + one.waited_ns * one.is_behind)} in all; what earlier calls ran over takes"
        ),
        takes,
        [_QUERY],
        "Recurrent layers: keep the state that the model returns, and give it that and only the newest piece. "
        "Attention: keep keys and values of the earlier pieces (a cache; use_cache=True in Transformers, "
        "past_key_values), and give only the newest piece. Where neither can be had: shorter sequences, several of "
        "them in one batch.",
        (one.file, one.line),
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(
            Ground.REPEATED if name else Ground.MODEL,
            seen=one.calls,
            agree=(_BEHIND if one.is_behind else 1 - one.unsure) * (1.0 if name else _NOT_SEEN),
        ),
        fix="scores, state = model(newest, state), with the state, or keys and values, that the call before returned",
    )
