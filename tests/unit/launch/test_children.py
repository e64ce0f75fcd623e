"""Programs that are run to their end, and ended with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import psutil
import pytest

from dlprof.launch import children


@pytest.mark.parametrize(
    ("code", "limit_s", "failed"),
    [
        ("print('a')", None, None),
        ("import sys; sys.exit(3)", None, "exit code 3"),
        ("import time; time.sleep(600)", 0.2, "took more than 0.2 s"),
    ],
)
def test_how_a_run_ended_is_told(tmp_path: Path, code: str, limit_s: float | None, failed: str | None) -> None:
    """One that takes too long is ended."""
    with (tmp_path / "out").open("wb") as output:
        assert children.run_to_end([sys.executable, "-c", code], output, limit_s=limit_s) == failed


def test_what_it_prints_goes_to_the_file(tmp_path: Path) -> None:
    """Both streams; the last line is mostly the reason of a failure."""
    code = "import sys, os; print('one', flush=True); sys.stderr.write(os.environ['X'] + '\\n\\n')"
    with (tmp_path / "out").open("wb") as output:
        children.run_to_end([sys.executable, "-c", code], output, environment={"X": "two"})

    assert (tmp_path / "out").read_text() == "one\ntwo\n\n"
    assert children.last_line(tmp_path / "out") == "two"


def test_a_run_that_printed_nothing_says_so(tmp_path: Path) -> None:
    """White space is nothing."""
    (tmp_path / "out").write_text(" \n\n")

    assert children.last_line(tmp_path / "out") == "it printed nothing"


def test_sigterm_is_an_interrupt_for_a_while() -> None:
    """Afterwards it is what it was."""
    before = signal.getsignal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt), children.ending_on_sigterm():
        os.kill(os.getpid(), signal.SIGTERM)

    assert signal.getsignal(signal.SIGTERM) is before


def test_sigterm_that_is_ignored_stays_so() -> None:
    """Who started dlprof wanted it."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with children.ending_on_sigterm():
            os.kill(os.getpid(), signal.SIGTERM)
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_what_does_not_listen_is_killed_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script may ignore SIGTERM, and dlprof hands it on."""
    monkeypatch.setattr(children, "_GRACE_S", 0.2)
    code = "trap '' TERM; sleep 600 & echo $!; wait; sleep 600"
    with (tmp_path / "out").open("wb") as output:
        children.run_to_end(["/bin/sh", "-c", code], output, limit_s=0.5)

    child = psutil.Process(int((tmp_path / "out").read_text())) if _is_there(tmp_path / "out") else None
    assert child is None or child.wait(10) is None


def _is_there(out: Path) -> bool:
    return psutil.pid_exists(int(out.read_text()))


@pytest.mark.parametrize("threads", [0, 1])
def test_ctrl_c_while_a_program_is_started_is_not_lost(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes when the program is there, and ends it; also where the kernel gives it to another thread."""
    made = []
    over = threading.Event()
    for _ in range(threads):
        threading.Thread(target=over.wait, daemon=True).start()

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *words: object, **how: object) -> None:
            super().__init__(*words, **how)  # type: ignore[call-overload]
            made.append(self)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with (tmp_path / "out").open("wb") as output, pytest.raises(KeyboardInterrupt):
        children.run_to_end([sys.executable, "-c", "import time; time.sleep(600)"], output)

    over.set()
    assert [process.poll() for process in made] == [-signal.SIGTERM]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_ctrl_c_that_another_thread_takes_late_is_not_lost(tmp_path: Path) -> None:
    """It does not wake the one that waits."""
    threading.Timer(0.3, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT)).start()
    command = [sys.executable, "-c", "import time; time.sleep(10); print('all of it')"]
    with (tmp_path / "out").open("wb") as output, pytest.raises(KeyboardInterrupt):
        children.run_to_end(command, output)

    assert (tmp_path / "out").read_text() == ""


def test_signals_are_let_go_also_where_one_comes_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread took it: its handler runs as soon as it is back."""
    held = children._Held()
    true_mask = signal.pthread_sigmask
    came = [signal.SIGINT]

    def interrupted(how: int, mask: Iterable[int]) -> set[int | signal.Signals]:
        if came:
            raise KeyboardInterrupt(came.pop())
        return true_mask(how, mask)

    monkeypatch.setattr(signal, "pthread_sigmask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        held.release()

    assert signal.SIGINT not in true_mask(signal.SIG_BLOCK, ())


def test_a_program_has_no_signal_blocked_and_the_folder_that_it_is_to_have(tmp_path: Path) -> None:
    """Nor has this one, where it cannot be started."""
    code = "import os, signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, ()), os.getcwd())"
    with (tmp_path / "out").open("wb") as output:
        children.run_to_end([sys.executable, "-c", code], output, folder=tmp_path)
        with pytest.raises(FileNotFoundError):
            children.run_to_end([str(tmp_path / "none")], output)

    assert (tmp_path / "out").read_text() == f"set() {tmp_path}\n"
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
