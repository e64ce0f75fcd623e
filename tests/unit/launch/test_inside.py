"""The probe inside a process that runs already."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlprof.config import TraceConfig
from dlprof.errors import UnavailableError
from dlprof.launch import inside
from dlprof.launch.inside import Inside
from dlprof.launch.running_process import RunningProcess
from dlprof.rundir import RunDir


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A Python that waits for its input."""
    started = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield started
    started.kill()
    started.communicate()


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """An empty run folder."""
    (tmp_path / "run/raw").mkdir(parents=True)
    return RunDir(tmp_path / "run")


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Scripts that were named to the process, which says that it is Python 3.14."""
    scripts: list[str] = []

    def run_python(_python: str, _text: str, *words: str) -> subprocess.CompletedProcess[str]:
        scripts.extend(Path(word).name for word in words[1:])
        return subprocess.CompletedProcess([], 0, "3 14\n", "")

    monkeypatch.setattr(inside, "_run", run_python)
    monkeypatch.setattr(inside, "_END_S", 0.05)
    return scripts


def probe(child: subprocess.Popen[bytes], run: RunDir) -> Inside:
    """One for that process."""
    return Inside(TraceConfig(script="train.py"), RunningProcess(child.pid), run)


def says(run: RunDir, **facts: object) -> None:
    """What the process writes of its probe."""
    (run.raw / "attached.state").write_text(json.dumps(facts))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="it can be started there")
def test_an_older_python_cannot_be_asked(child: subprocess.Popen[bytes], run: RunDir) -> None:
    """Its version is in the reason, and nothing is left in the folder."""
    with pytest.raises(UnavailableError, match=rf"runs Python 3\.{sys.version_info[1]}: only from 3\.14 on"):
        probe(child, run).begin()
    assert list(run.raw.iterdir()) == []


def test_a_process_of_another_user_is_not_asked(
    child: subprocess.Popen[bytes], run: RunDir, monkeypatch: pytest.MonkeyPatch, named: list[str]
) -> None:
    """Its program would run with the rights of dlprof's user."""
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(UnavailableError, match="another user's"):
        probe(child, run).begin()
    assert named == []


def test_it_is_begun_and_ended_by_two_scripts(child: subprocess.Popen[bytes], run: RunDir, named: list[str]) -> None:
    """What could not be put back is known, and nothing of it is left in the folder."""
    made = probe(child, run)
    made.begin()
    config = json.loads((run.raw / "attached.json").read_text())
    assert (config["conductor"][0], config["end"]) == (os.getpid(), str(run.raw / "attached-end.py"))
    says(run, state="on")
    assert made.end() == (
        f"the main thread has not come back to Python for 0 s: the probe ends when it does, by a script in {run.path}, "
        "which has to stay there until then"
    )
    made.remove()
    assert (run.raw / "attached-end.py").exists()

    says(run, state="over", problems=["KeyError: fit"])
    made.remove()
    assert named == ["attached-begin.py", "attached-end.py"]
    assert list(run.raw.iterdir()) == []


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"state": "failed", "reason": "OSError: full"}, "the in-process probe did not start: OSError: full"),
        (None, "the main thread did not come back to Python while it was looked at: nothing was measured inside"),
    ],
)
def test_why_there_is_none_is_said(
    child: subprocess.Popen[bytes], run: RunDir, named: list[str], facts: dict[str, str] | None, reason: str
) -> None:
    """It failed; or it never began, and will not any more."""
    made = probe(child, run)
    made.begin()
    if facts:
        says(run, **facts)

    assert (made.end(), made.was_there) == (reason, False)
    assert (run.raw / "attached.json").exists() is bool(facts)


def test_what_python_says_against_it_is_the_reason(
    child: subprocess.Popen[bytes], run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last line of it."""
    answers = iter([(0, "3 14\n", ""), (1, "", "Traceback\nRuntimeError: Remote debugging is not enabled\n")])
    monkeypatch.setattr(inside, "_run", lambda *_args: subprocess.CompletedProcess([], *next(answers)))
    with pytest.raises(
        UnavailableError, match="refused to start a probe inside: RuntimeError: Remote debugging is not"
    ):
        probe(child, run).begin()
