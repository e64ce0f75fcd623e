"""The user's code waits for the device in the middle of the training, so that host and device no longer overlap."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case, Sample
from dlprof.analysis.findings.finding import Abstain, Claim

_WAITS = {
    "_value",
    "block_until_ready",
    "__array__",
    "_single_device_array_to_np_array_did_copy",
    "asnumpy",
    "asscalar",
    "wait_to_read",
    "waitall",
    "numpy",
    "_numpy",
    "item",
    "tolist",
    "cpu",
    "synchronize",
    "convert_to_numpy",
    "get_value",
    "batch_get_value",
    "get_weights",
}
"""Functions of the engines that wait for a value and bring it to the host."""
_SHARE = 0.05


def look(case: Case) -> Iterator[Claim]:
    """Stacks in which code of the user's own, called by Keras, stands in such a function."""
    if not case.asynchronous and not case.has_gpu:
        raise Abstain(f"{case.backend or 'this engine'} works on the calling thread here: there is nothing to overlap")
    case.need_samples()
    phases = ("fit/callbacks", "fit/steps", "script")
    inside = {phase: case.sampled((phase,), lambda one: _waits(case, one)) for phase in phases}
    if sum(share * case.own(phase) for phase, share in inside.items()) < _SHARE * max(1, case.own("fit")):
        return
    takes = {}
    for phase, share in inside.items():
        takes.update(case.takes(phase, share=share))
    exposed = _exposed(case)
    takes.update({leaf: max(ns, exposed.get(leaf, 0)) for leaf, ns in takes.items()})
    yield Claim(
        "The user's code waits for values of the device while training, and brings them to the host: {time}, {share}.",
        takes,
        [
            (
                "stacks that stood in such a call",
                "SELECT f.function, f.file, f.line, sum(s.dur_ns) AS stood_ns FROM stacks s "
                "JOIN frames f USING (stack_id) "
                f"WHERE f.function IN ({', '.join(repr(name) for name in sorted(_WAITS))}) GROUP BY ALL "
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
        if function in _WAITS:
            return True
    return False


def _exposed(case: Case) -> dict[str, int]:
    """What the host does alone where it could have been hidden behind the device."""
    return case.takes("fit/steps/sync", "fit/steps/idle")
