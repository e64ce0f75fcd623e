"""Prints what the hooks around one training step cost, with nothing inside them."""

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "probes"))

from dlprof_probes.inproc import lines, loops, recorder, session
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.kernels.windows import NoWindows
from dlprof_probes.inproc.probe import Probe

STEPS = 200_000


class CallbackList:
    def on_batch_begin(self, batch, logs=None):
        pass

    def on_batch_end(self, batch, logs=None):
        pass


def step_function(data):
    pass


def timed(callbacks, function):
    start = time.process_time_ns()
    for batch in range(STEPS):
        callbacks.on_batch_begin(batch, None)
        function(None)
        callbacks.on_batch_end(batch, None)
    return (time.process_time_ns() - start) / STEPS


with tempfile.TemporaryDirectory() as folder:
    bare = timed(CallbackList(), step_function)
    stream = recorder.Recorder(os.path.join(folder, "w"), os.path.join(folder, "s"), lambda path: False)
    running = loops.Loops(stream, NoWindows())
    probe = Probe(stream, running, lines.NoLines(), session.load_wrappers(), lambda path: False, NoWindows())
    current = running.current
    probe.replace(CallbackList, "on_batch_begin", lambda f: probe.wrappers.batch_begin(f, current, now, probe.lines))
    probe.replace(CallbackList, "on_batch_end", lambda f: probe.wrappers.batch_end(f, current, now, probe.lines))
    running.open(stream.begin("fit", "fit"), "fit")
    running.current[next(iter(running.current))].start_epoch(0)
    hooked = timed(CallbackList(), probe.wrappers.StepFunction(step_function, current, now))
    print(
        "%.2f us per step (hooks %.2f us, the same loop without %.2f us)"
        % ((hooked - bare) / 1e3, hooked / 1e3, bare / 1e3)
    )
