"""Prints what finding the steps of a script's own loop costs, in CPU time: rounds with the hooks and without, in turn.

The loop does nothing but ask a loader for items and call an optimiser, both of pure Python; helpers are below the loop, and
functions around it, as in a script. `update` alone is a loop without a loader.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "probes"))

from dlprof_probes.inproc import lines, loops, recorder, session
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.kernels.windows import NoWindows
from dlprof_probes.inproc.probe import Probe

STEPS, ROUNDS = 2_000, 40


class Engine:
    name = "none"

    def alone(self):
        pass

    def trained_layers(self, optimizer, frames):
        return None


class Items:
    def __init__(self):
        self.left = STEPS

    def __next__(self):
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.left

    def __iter__(self):
        return self


class Loader:
    def __iter__(self):
        return Items()


class Optimizer:
    def step(self):
        self.hook((), {})

    def hook(self, _args, _kwargs):
        pass


def learn(optimizer):
    optimizer.step()


def epoch(optimizer, batches):
    for _batch in batches:
        learn(optimizer)


def main(optimizer, batches):
    for _epoch in range(1):
        epoch(optimizer, batches)


def cpu_ns(optimizer, batches):
    start = time.process_time_ns()
    main(optimizer, batches)
    return (time.process_time_ns() - start) / STEPS


def hooked(probe):
    """Put the hooks in place, as engines do; gives a function that takes them away."""
    own, engine = probe.own_loops, Engine()
    opened = probe.guard(lambda loader, iterator, begin: own.opened(iterator, begin, {}), goes_on=True)
    asked, over = own.asking(lambda: False), own.ending(lambda: False)
    wrappers = probe.wrappers
    bare = Loader.__iter__, Items.__next__, Optimizer.hook
    update = own.update
    Loader.__iter__ = wrappers.opening(bare[0], opened, now)
    Items.__next__ = wrappers.iterating(bare[1], asked, own.given, over)
    Optimizer.hook = lambda optimizer, _args, _kwargs: update(engine, optimizer)

    def undo():
        Loader.__iter__, Items.__next__ = bare[:2]
        Optimizer.hook = bare[2]

    return undo


def measured(probe, batches):
    """Median CPU time of a step (ns), with and without."""
    optimizer, times = Optimizer(), ([], [])
    for _ in range(ROUNDS):
        undo = hooked(probe)
        times[0].append(cpu_ns(optimizer, batches()))
        undo()
        times[1].append(cpu_ns(optimizer, batches()))
    return [statistics.median(one[ROUNDS // 4 :]) for one in times]


def make_probe(folder, is_user_file=lambda path: path == __file__):
    """A probe that writes into a folder."""
    stream = recorder.Recorder(os.path.join(folder, "w"), os.path.join(folder, "s"), lambda path: False)
    running = loops.Loops(stream, NoWindows())
    return Probe(stream, running, lines.NoLines(), session.load_wrappers(), is_user_file, NoWindows())


if __name__ == "__main__":
    for name, batches in (("loader and update", Loader), ("update", lambda: range(STEPS))):
        with tempfile.TemporaryDirectory() as folder:
            with_hooks, without = measured(make_probe(folder), batches)
        print(
            "%s: %.2f us of CPU a step (%.2f us with the hooks, %.2f us without)"
            % (name, (with_hooks - without) / 1e3, with_hooks / 1e3, without / 1e3)
        )
