"""Marks by which a training script without Keras tells dlprof its phases and steps.

    from dlprof_probes import mark

    with mark.phase("construct"):
        model = build()
    with mark.phase("fit", batch_size=128):
        for epoch in range(3):
            with mark.epoch(epoch):
                for rows, labels in mark.steps(batches):
                    train(rows, labels)
                mark.metrics(loss=loss)

Without dlprof around the process every mark does nothing, at the cost of a function call. Where the package
itself may be missing, a script can fall back on a stand-in of a few lines (`dlprof help marks`). Marks do not wait for
a device: the last statement of a step of an asynchronous engine should, or its time is that of dispatch.

Standard library only and Python 3.6 syntax, because it runs inside the traced process.
"""

from dlprof_probes import wire

PHASES, IN_FIT = wire.MARK_PHASES, wire.MARK_IN_FIT
"""Phases at the top level, and those inside fit."""

_sink = None


class _Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


_NOTHING = _Nothing()


def phase(name, **facts):
    """A context manager: what runs in it belongs to the phase `name`, one of PHASES or, inside fit, of IN_FIT.

    Args:
        name: The phase.
        facts: `batch_size` and `samples` of fit, evaluate and predict; throughput is told by them.
    """
    return _NOTHING if _sink is None else _sink.phase(name, facts)


def epoch(number):
    """A context manager around an epoch of fit, counted from 0."""
    return _NOTHING if _sink is None else _sink.epoch(number)


def step():
    """A context manager around a step: a batch in fit, evaluate or predict."""
    return _NOTHING if _sink is None else _sink.step()


def steps(batches):
    """The items of `batches`, each the input of a step; the time that the next one takes is the wait for input."""
    return batches if _sink is None else _sink.steps(batches)


def metrics(**values):
    """Numbers that the script has computed for the epoch that ends: `loss=0.25`."""
    if _sink is not None:
        _sink.metrics(values)


def model(module, optimizer=None):
    """Say which model is trained, so that kernels get the names of its layers.

    Args:
        module: A `torch.nn.Module`, or whatever else has `named_modules()`; a function of CNTK; or a list of names
            of layers.
        optimizer: Its optimiser, or its name.
    """
    if _sink is not None:
        _sink.model(module, optimizer)


def install(sink):
    """Where marks go from here on; None: nowhere. For dlprof itself."""
    global _sink  # noqa: PLW0603  (one process, one sink)
    _sink = sink
