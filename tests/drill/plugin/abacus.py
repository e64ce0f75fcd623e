"""Abacus, a toy engine: layers of plain Python sums, a trainer, and a profiler of its own. It knows nothing of dlprof."""

import time

__version__ = "1.4"

_NUMBERS = 4_000
"""Numbers that a layer adds up for each row."""


class Layer:
    """Adds up numbers, forward and backward."""

    def __init__(self, name):
        self.name = name
        self.weight = 1.0

    def forward(self, rows):
        """One number for each row."""
        return [self.weight * row + sum(range(_NUMBERS)) * 0.0 for row in rows]

    def backward(self, rows):
        """The gradient of the weight."""
        return sum(row + sum(range(_NUMBERS)) * 0.0 for row in rows) / len(rows)


class Trainer:
    """Trains layers on batches of numbers.

    Args:
        layers: The layers.
        audit: Whether every sum is added up once more to be sure: for debugging.
    """

    def __init__(self, layers, audit=False):
        self.layers = layers
        self.audit = audit
        self._plans = {}

    def fit(self, batches, epochs):
        """Train, and give the weights."""
        for _ in range(epochs):
            self.run_epoch(batches)
        return [layer.weight for layer in self.layers]

    def run_epoch(self, batches):
        """All batches once."""
        for rows in batches:
            self.run_step(rows)

    def run_step(self, rows):
        """One batch: forward, backward, update."""
        if len(rows) not in self._plans:
            self.make_plan(len(rows))
        for layer in self.layers:
            rows = _timed("add", layer, "forward", layer.forward, rows)
            if self.audit:
                _timed("audit", layer, "forward", layer.forward, rows)
        for layer in reversed(self.layers):
            gradient = _timed("carry", layer, "backward", layer.backward, rows)
            layer.weight -= 1e-4 * gradient

    def make_plan(self, size):
        """Get ready for batches of that size."""
        time.sleep(0.03)
        self._plans[size] = [layer.name for layer in self.layers]


class Profiler:
    """Writes a line for each operation that runs while it is on: operation, layer, pass, start and duration (ns)."""

    def __init__(self):
        self._file = None

    def start(self, path):
        """Begin."""
        self._file = open(path, "w")  # noqa: SIM115  (closed by `stop`)
        self._file.write("#abacus\n")

    def note(self, *fields):
        """An operation has run."""
        if self._file is not None:
            self._file.write("\t".join(str(field) for field in fields) + "\n")

    def stop(self):
        """End."""
        self._file.close()
        self._file = None


profiler = Profiler()


def _timed(operation, layer, direction, function, rows):
    begin = time.perf_counter_ns()
    result = function(rows)
    profiler.note(operation, layer.name, direction, begin, time.perf_counter_ns() - begin)
    return result
