"""The user's code waits for the device in the middle of the training, so that host and device no longer overlap."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim
from dlprof.analysis.samples import WAITS, Sample

_SHARE = 0.05


def look(case: Case) -> Iterator[Claim]:
    """Stacks in which code of the user's own, called by Keras, stands in such a function."""
    if not case.asynchronous and not case.has_gpu and case.backend != "mxnet":
        raise Abstain(f"{case.backend or 'this engine'} works on the calling thread here: there is nothing to overlap")
    case.need_samples()
    phases = ("fit/callbacks", "fit/steps", "script")
    waited = {phase: case.sampled((phase,), lambda one: _waits(case, one)) * case.host(phase) for phase in phases}
    if sum(waited.values()) < _SHARE * max(1, case.host("fit")):
        return
    # The wait itself is the device's work. Lost is what the host does alone, instead of beside the device.
    takes = case.takes(*(f"fit/steps/{name}" for name in ("sync", "idle", "dispatch", "host_python")))
    takes.update(case.takes("fit/callbacks"))
    takes.update(case.takes("script", share=waited["script"] / max(1, case.host("script"))))
    yield Claim(
        "The user's code waits for values of the device while training, and brings them to the host: {time}, {share}.",
        takes,
        [
            (
                "stacks that stood in such a call",
                "SELECT f.function, f.file, f.line, sum(s.dur_ns) AS stood_ns FROM stacks s "
                "JOIN frames f USING (stack_id) "
                f"WHERE f.function IN ({', '.join(repr(name) for name in sorted(WAITS))}) GROUP BY ALL "
                "ORDER BY stood_ns DESC LIMIT 8",
            )
        ],
        "Read values once an epoch, not at each batch; keep sums on the device.",
        case.hottest_user_line(phases, lambda one: _waits(case, one)),
    )


def _waits(case: Case, sample: Sample) -> bool:
    """Whether user code that was called back stands in a function that waits."""
    if not case.is_called_back(sample):
        return False
    for function, file, _line in sample.frames:
        if file in case.user_files:
            return False
        if function in WAITS:
            return True
    return False
