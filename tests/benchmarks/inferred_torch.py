"""Prints what finding the steps of a loop of torch costs, in CPU time: rounds with the hooks and without, in turn.

To be run by the Python of an environment that has torch. Smallest model and batch: the step itself should weigh little.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "probes"))
sys.path.insert(0, str(Path(__file__).parents[2]))

import torch
from dlprof_probes.inproc.engines import torch_loops

from tests.benchmarks.inferred_step import Engine, make_probe

STEPS, ROUNDS = 500, 60


class Rows(torch.utils.data.IterableDataset):  # type: ignore[misc]
    def __iter__(self):
        return iter([ROW] * STEPS)


def train(loader, model, optimizer):
    for rows in loader:
        optimizer.zero_grad()
        model(rows).backward()
        optimizer.step()


def cpu_ns(*args):
    """CPU time of a step, in the second of two passes: the first one learns the lines of the loop."""
    for _epoch in range(2):
        start = time.thread_time_ns()
        train(*args)
    return (time.thread_time_ns() - start) / STEPS


def hooked(probe):
    """Put the hooks in place."""
    engine = Engine()
    engine.probe = probe
    for one in torch_loops.attachments(engine):
        one.attach(sys.modules[one.module])


if __name__ == "__main__":
    torch.set_num_threads(1)
    ROW = torch.ones(1)
    model = torch.nn.Linear(1, 1)
    loader = torch.utils.data.DataLoader(Rows(), batch_size=None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    times: tuple[list[float], list[float]] = ([], [])
    with tempfile.TemporaryDirectory() as folder:
        probe = make_probe(folder, lambda path: path == __file__)
        for _ in range(ROUNDS):
            hooked(probe)
            times[0].append(cpu_ns(loader, model, optimizer))
            probe.patches.undo()
            times[1].append(cpu_ns(loader, model, optimizer))
    pairs = [with_hooks - without for with_hooks, without in zip(*times)][ROUNDS // 6 :]
    print(
        "torch: %.2f us of CPU a step (median of %d pairs; a step of %.1f us)"
        % (statistics.median(pairs) / 1e3, len(pairs), statistics.median(times[1]) / 1e3)
    )
