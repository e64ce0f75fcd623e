"""The sampler process: it samples until it is told to stop, and ends what its conductor left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.sidecar import __main__ as sampler
from dlprof_probes.sidecar.unavailable import Unavailable


class Probe:
    """A probe that counts its samples, and may fail."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.samples = 0
        self.finished: list[Any] = []
        self.fails = fails
        self.writer = SimpleNamespace(failed=None, finish=self.finished.append)
        self.is_near = False

    def sample(self) -> None:
        self.samples += 1
        if self.fails is not None:
            raise self.fails

    def read_all_next(self) -> None:
        self.is_complete = True

    def tree(self) -> list[int]:
        return [42, 43]

    def trailer(self) -> dict[str, Any]:
        return {"missing": []}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The end of a pipe into which the conductor writes."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield writing


THINNED = {"what": "samples per second", "from": 20, "to": 5.0, "why": "it took much"}


def make(folder: Path, monkeypatch: pytest.MonkeyPatch, cores: Any = None, gpu: Any = None, **more: Any) -> Any:
    """A sampler with these probes."""
    for name, probe in (("Cores", cores), ("Gpu", gpu)):
        monkeypatch.setattr(sampler, name, lambda *_args, probe=probe, **_how: raised(probe))
    probes = [name for name, probe in (("cores", cores), ("gpu", gpu)) if probe is not None]
    config = {"raw": str(folder), "hz": 1000, "pid": os.getpid(), "conductor": 1, "probes": probes, **more}
    return sampler._Sampler(config)


def raised(probe: Any) -> Any:
    """The probe, or its exception."""
    if isinstance(probe, Exception):
        raise probe
    return probe


def states(folder: Path) -> Any:
    """What the sampler tells of its probes."""
    return json.loads((folder / "sampler.json").read_text())


def test_it_samples_until_it_is_told_to_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: int) -> None:
    """And closes its files with what that cost."""
    cores, gpu = Probe(), Probe()
    made = make(tmp_path, monkeypatch, cores, gpu)
    os.write(said, b"stop\n")

    assert made.run() is True
    made.finish()

    assert (cores.samples, gpu.samples) == (2, 1)
    assert sorted(cores.finished[0]) == ["cost_cpu_ns", "missed", "missing"]
    assert sorted(gpu.finished[0]) == ["cost_cpu_ns", "missed", "missing"]
    assert states(tmp_path) == {"cores": {"state": "on", "reason": None}, "gpu": {"state": "on", "reason": None}}
    os.close(said)


def test_near_a_limit_of_memory_samples_are_not_rare_for_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the rate was lowered; one that stays there has the lowered rate again."""
    cores = Probe()
    made = make(tmp_path, monkeypatch, cores)
    made._rate.hz = 0.5

    far = made._hz()
    cores.is_near = True
    near = [made._hz() for _ in range(240)]

    assert (far, near[0], near[238], near[239]) == (0.5, 4.0, 4.0, 0.5)


def test_the_end_of_the_pipe_is_the_end_of_the_conductor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: int
) -> None:
    """Which did not say `stop`."""
    made = make(tmp_path, monkeypatch)
    os.close(said)

    assert made.run() is False


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (Unavailable("there is no GPU"), {"state": "unavailable", "reason": "there is no GPU"}),
        (RuntimeError("odd"), {"state": "failed", "reason": "RuntimeError: odd"}),
    ],
)
def test_a_probe_that_cannot_start_does_not_stop_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, state: dict[str, str]
) -> None:
    """It is told why."""
    make(tmp_path, monkeypatch, Probe(), error)

    assert states(tmp_path) == {"cores": {"state": "on", "reason": None}, "gpu": state}


def test_a_probe_that_fails_later_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By an exception, or because its file cannot be written."""
    cores, gpu = Probe(fails=OSError("gone")), Probe()
    gpu.writer.failed = "cannot write: No space left on device"
    made = make(tmp_path, monkeypatch, cores, gpu)
    for _ in range(2):
        made._sample("cores", cores)
        made._sample("gpu", gpu)
    made.finish()

    assert (cores.samples, gpu.samples) == (1, 1)
    assert states(tmp_path) == {
        "cores": {"state": "failed", "reason": "OSError: gone"},
        "gpu": {"state": "failed", "reason": "cannot write: No space left on device"},
    }


def test_samples_that_are_late_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: int
) -> None:
    """A busy machine is not hurried after."""
    made = make(tmp_path, monkeypatch)
    times = iter([0.0, 0.0035, 0.0035])
    monkeypatch.setattr(sampler, "time", SimpleNamespace(monotonic=lambda: next(times)))
    os.write(said, b"stop\n")

    assert made.run() is True
    assert made._missed == 3
    os.close(said)


def test_stacks_of_a_notebook_are_the_sampler_s_own_business(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: int
) -> None:
    """It starts, looks after and stops py-spy, and tells what that cost."""
    calls: list[Any] = []

    class Stacks:
        reason, failed, cpu_ns = None, False, 7

        def __init__(self, *args: Any, **share: Any) -> None:
            calls.append((*args, share))

        def __getattr__(self, name: str) -> Any:
            return lambda *args: calls.append((name, *args))

        def thinned(self) -> dict[str, Any]:
            return THINNED

    monkeypatch.setattr(sampler, "StackSampler", Stacks)
    made = make(tmp_path, monkeypatch, probes=["stacks"], stacks_hz=100, conductor=None, stacks_share=0.01)
    os.write(said, b"stop\n")
    made.run()
    made.finish()
    os.close(said)

    given = (os.getpid(), tmp_path, 100, {"share": 0.01})
    assert calls == [given, ("start",), ("poll",), ("stop", 5.0)]
    assert states(tmp_path) == {"stacks": {"reason": None, "failed": False, "cpu_ns": 7, "thinned": THINNED}}
    assert made.tree() == []


def main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, orderly: bool, conductor: int | None) -> list[Any]:
    """Run `main` to its end; what it ended."""
    ended: list[Any] = []
    fake = SimpleNamespace(run=lambda: orderly, tree=lambda: [42, 43], finish=lambda: ended.append("finished"))
    (tmp_path / "config.json").write_text(json.dumps({"pid": 42, "conductor": conductor}))
    monkeypatch.setattr(sys, "argv", ["sampler", str(tmp_path / "config.json")])
    monkeypatch.setattr(sampler, "_become_background_process", lambda: None)
    monkeypatch.setattr(sampler, "_Sampler", lambda _config: fake)
    monkeypatch.setattr(sampler, "_end_traced", lambda pid, tree: ended.append((pid, tree)))
    sampler.main()
    return ended


@pytest.mark.parametrize(
    ("orderly", "conductor", "expected"),
    [
        (True, 7, ["finished"]),
        (False, 7, [(42, [42, 43]), "finished"]),
        (False, None, ["finished"]),
    ],
)
def test_what_a_dead_conductor_leaves_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, orderly: bool, conductor: int | None, expected: list[Any]
) -> None:
    """Unless the traced process is a notebook's, which nobody may end."""
    assert main(tmp_path, monkeypatch, orderly=orderly, conductor=conductor) == expected


def child(code: str) -> subprocess.Popen[str]:
    """A process that is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"import signal, time\n{code}\nprint('ready', flush=True)\ntime.sleep(60)"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


@pytest.mark.parametrize(
    ("code", "number"),
    [("", signal.SIGTERM), ("signal.signal(signal.SIGTERM, signal.SIG_IGN)", signal.SIGKILL)],
)
def test_a_process_is_ended_politely_and_then_not(
    monkeypatch: pytest.MonkeyPatch, code: str, number: signal.Signals
) -> None:
    """One that is gone already is passed over."""
    monkeypatch.setattr(sampler, "_GRACE_S", 0.3)
    process = child(code)
    gone = child("")
    gone.kill()
    gone.wait()

    sampler._end_traced(process.pid, [process.pid, gone.pid])

    assert process.wait(10) == -number


def test_a_zombie_is_not_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to be waited for who only waits for its parent."""
    process = child("")
    assert sampler._alive(process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert not sampler._alive(process.pid)
    process.wait()
    assert not sampler._alive(process.pid)


def test_it_takes_no_time_from_a_busy_machine_and_no_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C at the terminal is the script's."""
    calls: list[Any] = []
    monkeypatch.setattr(os, "nice", calls.append)
    monkeypatch.setattr(signal, "signal", lambda number, action: calls.append((number, action)))

    sampler._become_background_process()

    assert calls == [19, *[(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]]
