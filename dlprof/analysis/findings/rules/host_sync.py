"""The user's code waits for the device in the middle of the training, so that host and device no longer overlap."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import loops, syncs
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.findings.traced_devices import IDLE_PARTS
from dlprof.analysis.samples import Sample, waiting_functions
from dlprof.schema.tree_paths import Tree, TreePath, of_phase
from dlprof.schema.vocabulary import Ground, Phase, StepPart

_LOGS_TITLE = Title(
    "A callback at each batch made Keras wait for the device", "waiting for the device after each batch"
)
TITLE = Title("The program waited for values from the device", "waiting for values from the device")
_SHARE = 0.05
_WAITS = Query(
    "calls that waited",
    "SELECT name, lane, count(*) AS calls, sum(dur_ns) AS waited_ns FROM kernels WHERE kind = 'wait' GROUP BY ALL "
    "ORDER BY waited_ns DESC LIMIT 8",
)
_ASKED = Query(
    "lines that ask for values",
    "SELECT what, file, line, calls, dur_ns FROM syncs ORDER BY dur_ns DESC LIMIT 8",
)
_A_STEP = 0.1
"""Calls for each step from which on a line is part of the loop's steps."""
_EACH, _AN_EPOCH = 0.5, 4
"""Calls for each step up to which a line may stand behind the loop, in short epochs: with at most so many in each."""
_FREE = 0.5
"""Cores that must stand idle, for kernels to go on beside the host as they would on a device of their own."""
_MOSTLY = 0.5
"""Share of the callbacks in such waits, from which on they are there for them; else the rest is work of their own."""
_USUAL = 0.10
"""Share of the loop that such waits take in loops that look at their loss now and then."""
_NAMED = 3
_PHASES = (Phase.FIT_CALLBACKS, Phase.FIT_WAIT, Phase.FIT_STEPS, Phase.SCRIPT)
_OUTSIDE = (Phase.FIT_CALLBACKS, Phase.FIT_WAIT)
"""Where Keras fetches logs for callbacks: in runs that do not tell waits apart, these are in the former."""


def look(case: Case) -> Iterator[Claim]:
    """Stacks in which code of the user's own, called by Keras, stands in such a function."""
    if not case.asynchronous and not case.kernels.has_gpu and not case.engine.runs_on:
        raise Abstain(f"{case.backend or 'this engine'} works on the calling thread here: there is nothing to overlap")
    if case.devices.foreign and case.devices.times:
        yield from _of_gaps(case)
        return
    if not loops.are_all_of_keras(case.run) and syncs.of_run(case.run) is not None:
        yield from _of_own_loop(case)
        return
    case.code.need_samples()
    yield from _of_user(case)
    if case.asynchronous:
        yield from _of_logs(case)


def _of_gaps(case: Case) -> Iterator[Claim]:
    """What a foreign trace shows: the host waited until the device had done all, so that nothing was launched ahead."""
    case.devices.need_devices()
    causes = case.gap_causes
    if not causes.sync_ns:
        return
    yield Claim(
        Sentence(
            f"The host waited {causes.sync_gaps} times until the GPU had done all that was launched, and only then "
            "launched on. The GPU was idle after these waits for"
        ),
        case.devices.takes(case.available, causes.sync_ns, case.devices.leaves(*IDLE_PARTS)),
        [_WAITS],
        "Read values once an epoch, not at each batch; copy from pinned memory without blocking; keep sums on the "
        "device.",
        support=Support(Ground.STATED, seen=causes.sync_gaps),
    )


def _of_logs(case: Case) -> Iterator[Claim]:
    """Keras fetches the logs after each batch, as soon as one callback has a method for batches."""
    paths = [of_phase(phase) for phase in _OUTSIDE]
    host, own = sum(case.phases.host(phase) for phase in _OUTSIDE), sum(case.own(path) for path in paths)
    fetched = case.code.share(paths, _fetches_logs) * host
    beside = host - own  # the device worked meanwhile
    lost = int(fetched - beside)
    if lost < _SHARE * max(1, case.phases.host(Phase.FIT)):
        return
    yield Claim(
        Sentence("Because a callback is called after each batch, Keras waits for the device and fetches the logs:"),
        case.takes(*paths, share=min(1.0, lost / max(1, own))),
        [queries.python_stood(*_OUTSIDE, Phase.FIT_STEPS)],
        "Do that work in on_epoch_end, or in a method of the script's own loop every so many batches.",
        case.code.hottest_line(paths, case.code.is_called_back),
        title=_LOGS_TITLE,
        support=case.code.support(paths, _fetches_logs),
    )


def _fetches_logs(sample: Sample) -> bool:
    """Whether Keras makes Python numbers of the logs at the end of a batch."""
    names = {frame.function.rpartition(".")[2].lstrip("_") for frame in sample.frames}
    return "pythonify_logs" in names and "on_train_batch_end" in names


def _of_user(case: Case) -> Iterator[Claim]:
    """Code of the script's own that waits."""
    waited = {
        phase: case.code.share([of_phase(phase)], lambda sample: _waits(case, sample)) * case.phases.host(phase)
        for phase in _PHASES
    }
    if sum(waited.values()) < _SHARE * max(1, case.phases.host(Phase.FIT)):
        return
    # The wait itself is the device's work. Lost is what the host does alone, instead of beside the device.
    takes = _lost(case)
    parts = {phase: waited[phase] / max(1, case.phases.host(phase)) for phase in (Phase.FIT_CALLBACKS, Phase.SCRIPT)}
    called = parts[Phase.FIT_CALLBACKS]
    takes.update(case.takes(Tree.FIT_WAIT))
    takes.update(case.takes(Tree.FIT_CALLBACKS, share=1.0 if called >= _MOSTLY else called))
    takes.update(case.takes(Tree.SCRIPT, share=parts[Phase.SCRIPT]))
    yield Claim(
        Sentence(
            "The user's code waits for values of the device while training, and brings them to the host:",
        ),
        takes,
        [_standing_in_waits()],
        "Read values once an epoch, not at each batch; keep sums on the device.",
        case.code.hottest_line([of_phase(phase) for phase in _PHASES], lambda sample: _waits(case, sample)),
        support=case.code.support([of_phase(phase) for phase in _PHASES], lambda sample: _waits(case, sample)),
    )


def _of_own_loop(case: Case) -> Iterator[Claim]:
    """Lines of a loop that the script wrote itself, as the probe counted and timed them."""
    epochs = sum(loop.epochs or loop.runs for loop in loops.of_run(case.run) if loop.name == "fit")
    asked = (one for one in syncs.of_run(case.run) or () if (one.calls_per_step or 0) >= _A_STEP)
    places = [one for one in asked if one.calls > _AN_EPOCH * epochs or (one.calls_per_step or 0) >= _EACH]
    waited = sum(one.ns for one in places)
    if not places or waited < _SHARE * max(1, case.phases.host(Phase.FIT)):
        return
    lost = _lost(case)
    share = min(1.0, waited / max(1, sum(lost.values()))) * _room(case)
    takes = {leaf: int(ns * share) for leaf, ns in lost.items()}
    named = ", ".join(f"{one.what} {one.calls_per_step:.2g} times a step" for one in places[:_NAMED])
    yield Claim(
        Sentence(
            f"The training loop asks for values of the device ({named}) and stands there until it has got that far:",
        ),
        takes,
        [_ASKED],
        "Read values once an epoch, or every so many steps; keep sums on the device.",
        (places[0].file, places[0].line),
        support=Support(
            Ground.PLACE,
            seen=sum(one.calls for one in places),
            part=waited / max(1, case.phases.host(Phase.FIT)),
            usual=_USUAL,
        ),
    )


def _lost(case: Case) -> dict[TreePath, int]:
    """What a device could do while the host waits, or is not ahead of it."""
    # Beside kernels on the host's own cores, starting work is not free, whoever waits.
    starting = (StepPart.DISPATCH, StepPart.HOST_PYTHON) if case.kernels.has_gpu else ()
    return case.takes(*(Tree.FIT_STEPS / part for part in (StepPart.SYNC, StepPart.IDLE, *starting)))


def _room(case: Case) -> float:
    """Share of the waits that would be saved: kernels on the host's own cores go on beside it where one is free."""
    if case.kernels.has_gpu:
        return 1.0
    try:
        free = case.machine.free_cores(case.machine.cores)
    except Abstain:
        return 1.0
    return min(1.0, max(0.0, free / _FREE))


def _standing_in_waits() -> Query:
    return Query(
        "stacks that stood in such a call",
        "SELECT f.function, f.file, f.line, sum(s.dur_ns) AS stood_ns FROM stacks s "
        "JOIN frames f USING (stack_id) "
        f"WHERE f.function IN ({', '.join(repr(name) for name in sorted(waiting_functions()))}) GROUP BY ALL "
        "ORDER BY stood_ns DESC LIMIT 8",
    )


def _waits(case: Case, sample: Sample) -> bool:
    """Whether user code that was called back stands in a function that waits."""
    if not case.code.is_called_back(sample):
        return False
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            return False
        if frame.name in waiting_functions():
            return True
    return False
