"""The script has the signals that it would have without dlprof; real ones, and a real terminal."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.integration import runner
from tests.integration.terminal import OnTerminal

pytestmark = pytest.mark.integration

QUICK = ("--probes", "none")
"""Nothing is measured: it is the launcher that is looked at."""
LISTENER = """
    import pathlib, signal, sys, time
    came = []
    for number in (1, 10, 12, 14, 15, 28, 37):
        signal.signal(number, lambda number, _frame: came.append(number))
    pathlib.Path("began").write_text("")
    end = time.monotonic() + 120
    while time.monotonic() < end and not pathlib.Path("enough").exists():
        time.sleep(0.02)
    print(came)
    sys.exit(5)
"""
SLEEPER = """
    import pathlib, time
    pathlib.Path("began").write_text("")
    time.sleep(20)
"""

ENDS_AT_A_SIGNAL = """
    import pathlib, signal, sys, time
    signal.signal(signal.SIGUSR1, lambda *_: sys.exit(5))
    pathlib.Path("began").write_text("")
    time.sleep(120)
"""
"""It comes through dlprof, which is awake by then: a script that ends while its parent stands leaves only its end."""


def listening(folder: Path, text: str = LISTENER, *flags: str) -> runner.Background:
    """A script that has begun, under a dlprof without a terminal."""
    runner.write(folder, "script.py", text)
    background = runner.Background("script.py", *(flags or QUICK), cwd=folder)
    background.wait_for("began")
    return background


def health(folder: Path, slug: str) -> list[str]:
    """What the report says under this name."""
    return [entry["message"] for entry in runner.report(folder)["health"] if entry["slug"] == slug]


@pytest.mark.parametrize("whole_group", [False, True])
def test_handlers_of_the_script_run_once_for_each_signal(whole_group: bool, tmp_path: Path) -> None:
    """Sent to dlprof, or to its group; the script alone decides what they mean."""
    background = listening(tmp_path)
    for number in (1, 10, 12, 14, 15, 28, 37):
        (background.signal_group if whole_group else background.process.send_signal)(number)
        time.sleep(0.2)
    (tmp_path / "enough").touch()

    done = background.end()

    assert (done.out, done.code) == ("[1, 10, 12, 14, 15, 28, 37]\n", 5)


@pytest.mark.parametrize("number", [1, 3, 12, 13, 37], ids=str)
def test_a_script_without_a_handler_dies_of_the_signal_and_dlprof_says_so(number: int, tmp_path: Path) -> None:
    """128 + n, and a run that opens; SIGPIPE every Python ignores."""
    background = listening(tmp_path, SLEEPER.replace("20", "3" if number == 13 else "20"))
    background.process.send_signal(number)

    done = background.end()

    assert done.code == (0 if number == 13 else 128 + number)
    assert runner.report(tmp_path)["exit"]["signal"] == (None if number == 13 else number)


@pytest.mark.parametrize("before", ["trap '' HUP INT QUIT USR1", "trap '' CHLD", ""])
def test_dispositions_and_mask_are_those_of_a_bare_start(before: str, tmp_path: Path) -> None:
    """Read from the kernel, bare and traced."""
    runner.write(
        tmp_path,
        "script.py",
        """
        # The C library takes two signals below those of real time for its threads: they are nobody's business.
        OWN = 3 << 31
        for line in open('/proc/self/status'):
            name, _, mask = line.partition(':')
            if name in ('SigIgn', 'SigBlk', 'SigCgt'):
                print(name, hex(int(mask, 16) & ~OWN))
        """,
    )
    traced = shlex.join([*runner.DLPROF, "trace", "script.py", "-o", "run", "--no-report"])
    bare, under = (
        runner.run(["bash", "-c", f"{before}\n{command}; true"], cwd=tmp_path).out
        for command in (shlex.join([sys.executable, "script.py"]), traced)
    )

    assert bare == under
    assert "SigIgn" in bare


def test_nohup_outlives_its_terminal(tmp_path: Path) -> None:
    """SIGHUP comes to dlprof, which leaves it alone as it was told to."""
    runner.write(tmp_path, "script.py", LISTENER.replace("(1, 10", "(10"))
    command = ["nohup", *runner.DLPROF, "trace", "script.py", "-o", "run", *QUICK]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        until(tmp_path / "began")
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        (tmp_path / "enough").touch()
        out, _ = process.communicate(timeout=60)

    assert (out, process.returncode) == ("[]\n", 5)
    assert runner.report(tmp_path)["state"] == "finished"


def test_an_alarm_set_before_dlprof_is_the_scripts(tmp_path: Path) -> None:
    """As a shell's time limit: the kernel sends it to dlprof, which the script was to replace."""
    runner.write(tmp_path, "script.py", SLEEPER)
    code = "import os, signal, sys; signal.alarm(6); os.execv(sys.argv[1], sys.argv[1:])"

    done = runner.run(
        [sys.executable, "-c", code, *runner.DLPROF, "trace", "script.py", "-o", "run", *QUICK], cwd=tmp_path
    )

    assert done.code == 128 + signal.SIGALRM
    assert runner.report(tmp_path)["exit"]["signal"] == signal.SIGALRM


TICKING = """
    import signal, time
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, %s, %s)
    time.sleep(0.01)
"""


@pytest.mark.parametrize(("first_s", "then_s", "code"), [(0.0001, 0.0001, 128 + signal.SIGALRM), (60, 0, 0)])
def test_a_timer_that_is_never_stopped_ends_the_script_as_without_dlprof(
    first_s: float, then_s: float, code: int, tmp_path: Path
) -> None:
    """Python has no handlers any more when it ends: what rings all the time ends it there, a time limit does not."""
    runner.write(tmp_path, "script.py", TICKING % (first_s, then_s))

    done = runner.run([*runner.DLPROF, "trace", "script.py", "-o", "run", "--no-report"], cwd=tmp_path)

    assert done.code == code


def test_a_dlprof_that_is_stopped_goes_on_with_the_script_unharmed(tmp_path: Path) -> None:
    """Again and again; the script did not stand, so nothing of that is told."""
    background = listening(tmp_path)
    for _ in range(3):
        background.process.send_signal(signal.SIGSTOP)
        time.sleep(0.4)
        background.process.send_signal(signal.SIGCONT)
        time.sleep(0.2)
    (tmp_path / "enough").touch()

    done = background.end()

    assert (done.code, "Traceback" in done.err) == (5, False)
    assert health(tmp_path, "script-stopped") == []


@pytest.mark.parametrize("both", [False, True])
def test_the_time_in_which_the_script_stood_is_told(both: bool, tmp_path: Path) -> None:
    """Whether dlprof stood too, or saw it; never more than it was, and at most a second less."""
    background = listening(tmp_path, ENDS_AT_A_SIGNAL)
    stopped = [one.pid for one in background.others()] + ([background.process.pid] if both else [])
    begin = time.monotonic()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(2)
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    background.process.send_signal(signal.SIGUSR1)

    done = background.end()

    assert done.code == 5
    assert len(health(tmp_path, "script-stopped")) == 1
    least = 1.4 if both else 1.9
    assert least < runner.report(tmp_path)["process"]["stopped_ns"] / 1e9 < time.monotonic() - begin


def shell(folder: Path, script: str) -> OnTerminal:
    """An interactive bash with job control, and a script in its folder."""
    runner.write(folder, "script.py", script)
    terminal = OnTerminal(["bash", "--norc", "--noprofile", "-i"], cwd=folder, env={"PS1": "ready> "})
    terminal.wait_for(lambda screen: "ready>" in screen)
    return terminal


def until(path: Path, seconds: float = 120) -> None:
    """Wait for a file."""
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, path
        time.sleep(0.02)


TRACE = shlex.join([*runner.DLPROF, "trace", "script.py", "-o", "run", *QUICK, "--no-report", "--no-progress"])


def typed(terminal: OnTerminal, keys: str, wanted: str) -> None:
    """Type, and wait for a text on the screen."""
    terminal.type(keys.encode())
    terminal.wait_for(lambda screen: wanted in screen)


def test_ctrl_z_and_fg_stop_the_script_and_let_it_go_on(tmp_path: Path) -> None:
    """The report tells how long it stood."""
    terminal = shell(tmp_path, LISTENER)
    terminal.type(f"{TRACE}; echo code $?\n".encode())
    terminal.wait_for(lambda _screen: (tmp_path / "began").exists())
    time.sleep(0.5)
    begin = time.monotonic()
    typed(terminal, "\x1a", "Stopped")
    time.sleep(1.5)
    (tmp_path / "enough").touch()
    typed(terminal, "fg; echo then $?\n", "then 5")
    terminal.type(b"exit\n")
    terminal.end()

    assert "[]" in terminal.shown()
    assert len(health(tmp_path, "script-stopped")) == 1
    assert 1.4 < runner.report(tmp_path)["process"]["stopped_ns"] / 1e9 < time.monotonic() - begin


def test_a_script_in_the_background_comes_to_the_foreground_and_reads_there(tmp_path: Path) -> None:
    """`&`, then `fg`: it reads from the terminal, and Ctrl-C is its own."""
    terminal = shell(
        tmp_path,
        """
        import pathlib, time
        pathlib.Path("began").write_text("")
        while not pathlib.Path("enough").exists():
            time.sleep(0.02)
        try:
            print("read", input()[::-1])
            time.sleep(20)
        except KeyboardInterrupt:
            raise SystemExit(9)
        """,
    )
    terminal.type(f"{TRACE} &\n".encode())
    terminal.wait_for(lambda _screen: (tmp_path / "began").exists())
    typed(terminal, "fg; echo code $?\n", "fg; echo")
    time.sleep(0.5)
    (tmp_path / "enough").touch()
    typed(terminal, "olleh\n", "read hello")
    typed(terminal, "\x03", "code 9")
    terminal.type(b"exit\n")
    terminal.end()

    assert runner.report(tmp_path)["exit"]["code"] == 9


def test_orphans_are_reaped_while_the_script_runs(tmp_path: Path) -> None:
    """Children whose parents have ended are dlprof's; what it starts for itself stays in its hands."""
    background = listening(
        tmp_path,
        """
        import os, pathlib, time
        for _ in range(100):
            if os.fork() == 0:
                if os.fork() == 0:
                    time.sleep(0.01)
                os._exit(0)
            os.wait()
        time.sleep(1)
        pathlib.Path("began").write_text("")
        while not pathlib.Path("enough").exists():
            time.sleep(0.02)
        """,
        "--probes",
        "cores",
    )
    zombies = [one.pid for one in background.others() if state(one) == psutil.STATUS_ZOMBIE]
    (tmp_path / "enough").touch()

    done = background.end()

    assert (zombies, done.code) == ([], 0)
    probes: dict[str, Any] = {one["name"]: one["state"] for one in runner.report(tmp_path)["probes"]}
    assert probes["cores"] == "on"


def state(process: psutil.Process) -> str | None:
    """Whether it is a zombie; None: it is gone."""
    try:
        return str(process.status())
    except psutil.Error:
        return None


def test_a_service_that_the_script_started_outlives_sigterm(tmp_path: Path) -> None:
    """It made a session of its own; a worker did not, and goes with the script."""
    background = listening(
        tmp_path,
        """
        import pathlib, subprocess, sys, time
        sleep = [sys.executable, "-c", "import time; time.sleep(30)"]
        null = subprocess.DEVNULL
        pids = [
            subprocess.Popen(sleep, stdout=null, stderr=null, start_new_session=own).pid for own in (True, False)
        ]
        print(*pids, flush=True)
        pathlib.Path("began").write_text("")
        time.sleep(20)
        """,
    )
    background.process.terminate()
    done = background.end()
    service, worker = (int(word) for word in done.out.split())
    there = [psutil.pid_exists(service), psutil.pid_exists(worker)]
    os.kill(service, signal.SIGKILL)

    assert there == [True, False]
    assert str(service) in health(tmp_path, "processes-left")[0]
