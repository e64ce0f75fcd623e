"""Has an engine, real or a stand-in, work under the probe, and writes down what came of it: `engine_contract` judges.

Run by the engine's own Python, which may be a 3.6: `python engine_exercise.py NAME FOLDER`. Each experiment has a probe
and a folder of its own: `inproc.wire` in it is what the probe wrote, `observed.json` above what the program saw.
"""

import glob
import json
import os
import sys
import types

from dlprof_probes import wire
from dlprof_probes.inproc import facts, hooks, lines, loops, recorder, session
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.hooks.keras_common import KerasClasses
from dlprof_probes.inproc.kernels import windows
from dlprof_probes.inproc.patching import Patches
from dlprof_probes.inproc.probe import Probe

STEPS = 9
"""So many have a window: some plain ones, two traced, some plain."""


class Setup(object):
    """A probe as in a traced process, with the engine's hooks in place.

    Attributes:
        engine: The engine's half of the probe.
    """

    def __init__(self, program, folder, mode="windows"):
        os.makedirs(folder)
        status = os.path.join(folder, "status")
        with open(status, "w") as target:
            target.write(" " * 1024)
        self.recorder = recorder.Recorder(os.path.join(folder, "inproc.wire"), status, lambda _path: False)
        self.windows = windows.Windows(self.recorder, os.path.join(folder, "kernels"), mode, steps=2)
        running = loops.Loops(self.recorder, self.windows)
        wrappers = session.load_wrappers()
        self.probe = Probe(self.recorder, running, lines.NoLines(), wrappers, lambda _path: False, self.windows)
        self.probe.patches = WatchedPatches()
        self.engine = self.probe.engines.find(program.name)
        self._attached = set()
        self.attach()

    def attach(self):
        """Attach to what is loaded."""
        hooks.attach_new(self.probe, sys.modules, self._attached)

    def open(self):
        """Begin to train."""
        self._span = self.recorder.begin(wire.SpanKind.FIT, "fit")
        loop = self.probe.loops.open(self._span, wire.SpanKind.FIT)
        loop.start_epoch(0)
        return loop

    def close(self, loop):
        """End that."""
        self.probe.loops.close(loop)
        self.recorder.end(self._span)

    def end(self):
        """End as a notebook's cell does; the names of what is not as it was before."""
        self.windows.finish()
        self.recorder.meta({"clock_end": {}})
        self.probe.end()
        self.recorder.finish()
        self.recorder.close()
        return self.probe.patches.left()


class WatchedPatches(Patches):
    """Knows what stood where before it was replaced."""

    def __init__(self):
        super(WatchedPatches, self).__init__()
        self._before = []

    def replace(self, owner, name, make, again=False):
        """Remember, and replace."""
        self._before.append((owner, name, vars(owner).get(name)))
        return super(WatchedPatches, self).replace(owner, name, make, again)

    def left(self):
        """What is not as it was when it was first replaced."""
        first = {}
        for owner, name, value in self._before:
            first.setdefault((id(owner), name), (owner, value))
        return [name for (_, name), (owner, value) in first.items() if vars(owner).get(name) is not value]


def fake_keras():
    """As much of a Keras as the engines' hooks touch."""
    optimizer = type("Optimizer", (object,), {"apply": lambda self, grads: grads})
    layer = type("Layer", (object,), {"__call__": lambda self, value: value, "name": "dense"})
    methods = dict((name, lambda self, *args: args) for name in ("compute_loss", "compute_metrics", "zero_grad"))
    model = type("Model", (object,), methods)
    keras = types.SimpleNamespace(optimizers=types.SimpleNamespace(Optimizer=optimizer))
    return KerasClasses(keras, [model], layer, is_classic=False)


# -- experiments -------------------------------------------------------------------------------------------


def readiness(program, _folder):
    """Whether the engine is ready while its modules are empty, and when they are loaded."""
    empty = dict((name, types.ModuleType(name)) for name in program.modules)
    program.load()
    with_engine = Setup(program, _folder)
    waiting = [one for one in with_engine.engine.attachments()]
    ready = {
        "empty": [one.is_ready(dict(empty)) for one in waiting if one.module in empty],
        "loaded": [one.is_ready(sys.modules) for one in waiting if one.module in empty],
    }
    with_engine.end()
    return ready


def compiling(program, folder):
    """The same program without the probe and under it: for two rows, for two again, for three."""
    plain = _compiled(program)
    setup = Setup(program, folder)
    program.watched(setup.engine, fake_keras())
    loop = setup.open()
    setup.attach()
    probed = _compiled(program)
    count = setup.probe.loops.compiles[0]
    setup.close(loop)
    return {"plain": plain, "probed": probed, "count": count, "left": setup.end(), "again": _compiled(program)}


def _compiled(program):
    call = program.compiling()
    return [call(2), call(2), call(3)]


def failing(program, folder):
    """A hook raises whenever a graph is compiled."""
    setup = Setup(program, folder)
    loop = setup.open()
    setup.attach()
    setup.probe.loops.compiles = None
    results = _compiled(program)
    setup.probe.loops.compiles = loop.compiles
    setup.close(loop)
    return {"results": results, "left": setup.end()}


def tracing(program, folder):
    """A loop that is long enough for a window, on the engine as Keras or a script without it uses it."""
    setup = Setup(program, folder, program.mode)
    program.watched(setup.engine, fake_keras())
    step = program.stepping()
    step()
    loop = setup.open()
    for _ in range(STEPS):
        loop.begin = now()
        step()
        loop.finish((None, loop.step_index), now())
    setup.close(loop)
    left = setup.end()
    pattern = os.path.join(folder, "kernels", "**", "*")
    files = [path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path)]
    return {"files": sorted(os.path.relpath(path, os.path.join(folder, "kernels")) for path in files), "left": left}


def idle(program, folder):
    """The tracer is stopped without a step, and started again, as for the next loop."""
    setup = Setup(program, folder)
    if program.mode == "all":
        setup.end()
        return {}
    program.watched(setup.engine, fake_keras())
    step = program.stepping()
    step()
    tracer = setup.engine.make_tracer() if program.alone else setup.windows._tracer
    first, second = (os.path.join(setup.engine.kernel_folder, name) for name in ("first", "second"))
    os.makedirs(first)
    os.makedirs(second)
    tracer.drain()
    tracer.start(first)
    try:
        given = tracer.stop()
    except Exception:
        given = []
    tracer.start(second)
    step()
    tracer.drain()
    files = tracer.stop()
    setup.end()
    return {
        "idle": [path for path in given if not path.startswith(first)],
        "files": [os.path.relpath(path, second) for path in files],
        "sizes": [os.path.getsize(path) for path in files],
    }


def read_facts(program, folder):
    """Threads and switches, as they are and with one switch set."""
    setup = Setup(program, folder)
    known = setup.probe.engines
    before = facts.flags(known)
    with program.switched_on():
        during = facts.flags(known)
    told = {"threads": facts.threads(known).get(program.module), "before": before, "during": during}
    setup.end()
    return told


def settings(program, folder):
    """A trial run has settings of its own, whatever the script sets."""
    setup = Setup(program, folder)
    module = sys.modules[program.module]
    before = program.value()
    setup.probe.guard(setup.engine.apply)(module, program.settings)
    program.set_by_script()
    during = program.value()
    left = setup.end()
    program.set_by_script()
    after = program.value()
    program.restore(before)
    return {"settable": setup.engine.is_settable(module), "during": during, "after": after, "left": left}


EXPERIMENTS = (readiness, compiling, failing, tracing, idle, read_facts, settings)


def run(program, folder):
    """All experiments; writes `observed.json`."""
    observed = {"version": None}
    for experiment in EXPERIMENTS:
        observed[experiment.__name__] = experiment(program, os.path.join(folder, experiment.__name__))
    observed["version"] = str(sys.modules[program.module].__version__)
    with open(os.path.join(folder, "observed.json"), "w") as target:
        json.dump(observed, target)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import engine_programs

    run(engine_programs.PROGRAMS[sys.argv[1]](), sys.argv[2])
