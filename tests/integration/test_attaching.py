"""`dlprof attach`: whatever becomes of the look, the process goes its own way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlprof.backends import registry
from dlprof.config import TraceConfig
from dlprof.ingest.own import wire
from dlprof.launch import environments
from dlprof.launch.inside import Inside
from dlprof.launch.running_process import RunningProcess
from dlprof.rundir import RunDir
from tests.integration import runner

pytestmark = pytest.mark.integration

BUSY = """
    import sys
    print("on", flush=True)
    while True:
        sum(range(5000))
"""
ENDS = """
    import sys, time
    print("on", flush=True)
    sys.stdin.readline()
    sys.exit(7)
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Takes what a test starts; it is ended."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for one in processes:
        one.kill()
        one.communicate()


def _start(started: list[subprocess.Popen[str]], folder: Path, text: str, python: str = sys.executable) -> int:
    runner.write(folder, "target.py", text)
    process = subprocess.Popen(
        [python, "target.py"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    started.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    return process.pid


def _attach(started: list[subprocess.Popen[str]], folder: Path, pid: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*runner.DLPROF, "attach", str(pid), "-o", "run", "--no-report"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    started.append(process)
    deadline = time.monotonic() + 60
    while not (folder / "run/raw/cores.jsonl").exists():
        assert time.monotonic() < deadline, "the look did not begin"
        time.sleep(0.05)
    time.sleep(1)
    return process


def test_ctrl_c_ends_the_look_and_not_the_process(tmp_path: Path, started: list[subprocess.Popen[str]]) -> None:
    """The run is whole."""
    pid = _start(started, tmp_path, BUSY)
    look = _attach(started, tmp_path, pid)

    os.killpg(look.pid, signal.SIGINT)
    _out, err = look.communicate(timeout=60)

    assert (look.returncode, started[0].poll()) == (0, None), err
    told = runner.report(tmp_path)
    assert (told["source"], told["process"]["pid"]) == ("attached", pid)
    assert any("it went on after that" in line["message"] for line in told["health"])


def test_a_process_that_ends_meanwhile_ends_the_look(tmp_path: Path, started: list[subprocess.Popen[str]]) -> None:
    """With its own exit code for its parent, and a run that says so."""
    pid = _start(started, tmp_path, ENDS)
    look = _attach(started, tmp_path, pid)

    started[0].communicate("\n", timeout=60)
    _out, err = look.communicate(timeout=60)

    assert (look.returncode, started[0].returncode) == (0, 7), err
    assert any("it ended meanwhile" in line["message"] for line in runner.report(tmp_path)["health"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look at everything")
def test_a_process_of_another_user_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """With the command that mends it; nothing is made."""
    done = runner.run([*runner.DLPROF, "attach", "1", "-o", "run"], cwd=tmp_path)
    assert done.code != 0
    assert "only that user may look into it" in done.err
    assert "sudo" in done.err
    assert not (tmp_path / "run").exists()


TRAINS = """
    import sys
    import keras, numpy as np
    from pathlib import Path

    def run_named(name):
        path = Path("run/raw/attached-%s.py" % name)
        exec(compile(path.read_text(), str(path), "exec"), {})

    class At(keras.callbacks.Callback):
        epoch = 0
        def on_epoch_begin(self, epoch, logs=None):
            self.epoch = epoch
        def on_train_batch_end(self, batch, logs=None):
            if (self.epoch, batch) == (1, 4):
                run_named("begin")
            if (self.epoch, batch) == (3, 7):
                run_named("end")

    keras.utils.set_random_seed(1)
    x = np.random.default_rng(0).random((80, 8)).astype("float32")
    model = keras.Sequential([keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(x, x.sum(axis=1, keepdims=True), epochs=5, batch_size=8, verbose=0,
                        callbacks=[At()] if sys.argv[1:] else [])
    left = [name for name in sys.modules if "dlprof" in name]
    print(history.history["loss"], left, getattr(keras.Model.fit, "_dlprof", False), type(model.train_function).__name__)
"""


def test_a_probe_that_comes_into_a_training_tells_it_from_there_on_and_leaves_nothing(tmp_path: Path) -> None:
    """The two scripts that Python 3.14 runs for `attach`, run by the program itself: this test needs no such Python."""
    python = str(environments.ensure(registry.get("jax"), report=print).python)
    runner.write(tmp_path, "train.py", TRAINS)
    environment = {**os.environ, "KERAS_BACKEND": "jax"}

    def out(*arguments: str) -> str:
        command = [python, "train.py", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert "Traceback" not in done.stderr
        return done.stdout

    bare = out()
    run = RunDir(tmp_path / "run")
    run.raw.mkdir(parents=True)
    Inside(TraceConfig(script=str(tmp_path / "train.py")), RunningProcess(os.getppid()), run).stage()
    traced = out("traced")

    assert traced == bare
    stream = wire.read(run.raw / "inproc.wire")
    numbers = [(row[2], row[3]) for row in stream.steps]
    assert numbers == [*[(1, step) for step in range(5, 10)], *[(2, step) for step in range(10)],
                       *[(3, step) for step in range(7)]]  # fmt: skip
    assert stream.complete
    assert json.loads((run.raw / "attached.state").read_text()) == {"state": "over", "problems": []}
