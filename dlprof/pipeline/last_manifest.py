"""The manifest of a run whose script is over: how it ended, what became of the probes, what there is to say of it."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof_probes import masking
from msgspec.structs import replace

from dlprof.launch import signals
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import Recorded
from dlprof.launch.stops import Stop
from dlprof.schema import manifest as manifests
from dlprof.schema.manifest import Manifest
from dlprof.schema.vocabulary import RunState, Severity


def of(first: Manifest, recorded: Recorded) -> Manifest:
    """What is known of a run whose script is over.

    Args:
        first: What was written when it began.
        recorded: What came of it.
    """
    outcome = recorded.outcome
    return replace(
        first,
        state=RunState.INTERRUPTED if outcome.interrupts or outcome.killed else RunState.FINISHED,
        clock=recorded.clock,
        process=manifests.Process(
            pid=recorded.pid,
            exit_code=outcome.exit_code,
            signal=outcome.signal,
            wall_ns=outcome.end_ns - outcome.start_ns,
            cpu_user_ns=outcome.user_ns,
            cpu_system_ns=outcome.system_ns,
            stopped_ns=sum(stop.end_ns - stop.begin_ns for stop in outcome.stops),
            replaced_by=outcome.replaced.program if outcome.replaced else None,
            went_on=outcome.went_on,
        ),
        gpu_tracer=recorded.gpu_tracer,
        probes=recorded.probes,
        health=(
            *first.health,
            *_stood_still(outcome),
            *_went_on_as(outcome),
            *_left_running(outcome, keep_arguments=first.config["keep_arguments"]),
        ),
    )


_TOLD_STOPS = 5
"""Stops that are told one by one."""


def _stood_still(outcome: Outcome) -> Iterator[manifests.HealthEntry]:
    """The time in which the script was stopped: wall time, and no work of anybody's."""
    if not outcome.stops:
        return
    whole_s = sum(stop.end_ns - stop.begin_ns for stop in outcome.stops) / 1e9
    told = "; ".join(_told_stop(stop) for stop in outcome.stops[:_TOLD_STOPS])
    more = len(outcome.stops) - _TOLD_STOPS
    text = (
        f"The script was stopped for {whole_s:.1f} s: {told}{f'; and {more} times more' if more > 0 else ''}. "
        "The wall time, and the phases and steps in which it stood, have that time in them."
    )
    yield manifests.HealthEntry(
        slug="script-stopped", severity=Severity.WARNING, message=text, count=len(outcome.stops)
    )


def _told_stop(stop: Stop) -> str:
    by = signals.name(stop.signal) if stop.signal is not None else "SIGSTOP or SIGTSTP"
    least = "at least " if stop.is_least else ""
    return f"{least}{(stop.end_ns - stop.begin_ns) / 1e9:.1f} s by {by}, from {stop.begin_ns / 1e9:.1f} s on"


def _went_on_as(outcome: Outcome) -> Iterator[manifests.HealthEntry]:
    if outcome.replaced is None:
        return
    program, seen_s = outcome.replaced.program, outcome.replaced.seen_ns / 1e9
    text = (
        f"The script replaced itself by {program} (exec), seen at {seen_s:.1f} s. What ran after that is in the "
        "wall time, the cores and the exit code, not in the phases, steps and lines."
    )
    yield manifests.HealthEntry(slug="script-replaced", severity=Severity.WARNING, message=text)


def _left_running(outcome: Outcome, *, keep_arguments: bool) -> Iterator[manifests.HealthEntry]:
    if outcome.left:
        left = "; ".join(f"{pid} {command}" for pid, command in outcome.left.items())
        left = left if keep_arguments else masking.text(left)
        text = f"Processes that the script started are still running: {left}"
        yield manifests.HealthEntry(
            slug="processes-left", severity=Severity.INFO, message=text, count=len(outcome.left)
        )
