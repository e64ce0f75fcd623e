"""The user's code waits for the device in the middle of the training, so that host and device no longer overlap."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim
from dlprof.analysis.samples import Sample, waiting_functions

_SHARE = 0.05


def look(case: Case) -> Iterator[Claim]:
    """Stacks in which code of the user's own, called by Keras, stands in such a function."""
    if not case.asynchronous and not case.has_gpu and case.backend != "mxnet":
        raise Abstain(f"{case.backend or 'this engine'} works on the calling thread here: there is nothing to overlap")
    case.need_samples()
    yield from _of_user(case)
    if case.asynchronous:
        yield from _of_logs(case)


def _of_logs(case: Case) -> Iterator[Claim]:
    """Keras fetches the logs after each batch, as soon as one callback has a method for batches."""
    fetched = case.sampled(("fit/callbacks",), _fetches_logs) * case.host("fit/callbacks")
    beside = case.host("fit/callbacks") - case.own("fit/callbacks")  # the device worked meanwhile
    lost = int(fetched - beside)
    if lost < _SHARE * max(1, case.host("fit")):
        return
    yield Claim(
        "Because a callback is called after each batch, Keras waits for the device and fetches the logs: {time}, "
        "{share}.",
        case.takes("fit/callbacks", share=lost / max(1, case.own("fit/callbacks"))),
        [queries.python_stood("fit.callbacks", "fit.steps")],
        "Do that work in on_epoch_end, or in a method of the script's own loop every so many batches.",
        case.hottest_user_line(("fit/callbacks",), case.is_called_back),
    )


def _fetches_logs(sample: Sample) -> bool:
    """Whether Keras makes Python numbers of the logs at the end of a batch."""
    names = {function.rpartition(".")[2].lstrip("_") for function, _, _ in sample.frames}
    return "pythonify_logs" in names and "on_train_batch_end" in names


def _of_user(case: Case) -> Iterator[Claim]:
    """Code of the script's own that waits."""
    phases = ("fit/callbacks", "fit/steps", "script")
    waited = {phase: case.sampled((phase,), lambda one: _waits(case, one)) * case.host(phase) for phase in phases}
    if sum(waited.values()) < _SHARE * max(1, case.host("fit")):
        return
    # The wait itself is the device's work. Lost is what the host does alone, instead of beside the device.
    # Beside kernels on the host's own cores, starting work is not free, whoever waits.
    hidden = ("sync", "idle", "dispatch", "host_python") if case.has_gpu else ("sync", "idle")
    takes = case.takes(*(f"fit/steps/{name}" for name in hidden))
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
                f"WHERE f.function IN ({', '.join(repr(name) for name in sorted(waiting_functions()))}) GROUP BY ALL "
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
        if function in waiting_functions():
            return True
    return False
