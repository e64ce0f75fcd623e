"""`dlprof trace --live` on an emulated terminal: the screen meanwhile, and the script's own output afterwards."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.integration import runner
from tests.integration.terminal import ENTER, LEAVE, OnTerminal

pytestmark = pytest.mark.integration

TRACE = [*runner.DLPROF, "trace", "script.py", "-o", "run", "--no-report"]
LIVE = [*TRACE, "--live"]

TALKER = """
    import os, sys, time
    print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty(), os.get_terminal_size())
    for number in range(25):
        sys.stdout.write("\\rworking on %d" % number)
        sys.stdout.flush()
        time.sleep(0.01)
    while not os.path.exists("seen"):
        time.sleep(0.05)
    print("\\n\\x1b[31mred\\x1b[0m tab\\tÄ 漢字 \\x1b[2K")
    os.write(1, b"no newline: \\xff")
    print("error", file=sys.stderr)
    sys.exit(3)
"""


def own_lines(sent: bytes) -> bytes:
    """What was sent, without the lines that dlprof says before and after."""
    return b"".join(line for line in sent.splitlines(keepends=True) if not line.startswith(b"dlprof: "))


def seen(folder: Path) -> None:
    """What a talker waits for: it goes on for as long as the screen takes to be there, on a busy machine, too."""
    (folder / "seen").touch()


def live(folder: Path, script: str) -> OnTerminal:
    """A script under --live."""
    runner.write(folder, "script.py", script)
    return OnTerminal(LIVE, cwd=folder)


def live_probe(folder: Path) -> dict[str, object]:
    """The view's line of the ledger."""
    manifest = json.loads((folder / "run" / "manifest.json").read_text())
    return next(probe for probe in manifest["probes"] if probe["name"] == "live")


def test_the_screen_shows_the_run_and_the_output_is_that_of_plain_python(tmp_path: Path) -> None:
    """Byte for byte, with its exit code, and the terminal as it was."""
    runner.write(tmp_path, "script.py", TALKER)
    seen(tmp_path)
    bare = OnTerminal([sys.executable, "script.py"], cwd=tmp_path)
    code = bare.end()
    (tmp_path / "seen").unlink()

    traced = OnTerminal(LIVE, cwd=tmp_path)
    # The probes' line comes from the process traced, the cores' from the sampler: either may be first.
    shown = traced.wait_for(
        lambda text: "core 0" in text and "on: phases" in text and re.search(r"working on \d", text)
    )
    seen(tmp_path)

    assert traced.end() == code == 3
    assert own_lines(traced.main_screen()) == bare.sent
    assert traced.modes() == traced.modes_before
    assert traced.sent.count(ENTER) == traced.sent.count(LEAVE) == 1
    assert "dlprof  script · running" in shown
    assert " script for " in shown
    assert "core 0" in shown
    assert "on: phases" in shown
    assert shown.count("working on") == 1


def test_the_view_has_its_line_in_the_ledger(tmp_path: Path) -> None:
    """With what it cost, as measured."""
    traced = live(tmp_path, TALKER)
    traced.wait_for(lambda text: "script for" in text)
    seen(tmp_path)

    assert traced.end() == 3
    assert live_probe(tmp_path)["state"] == "on"
    rows = runner.sql(tmp_path, "SELECT cost_ns > 0 AS costs, cost_source AS told FROM probes WHERE name = 'live'")
    assert rows[0]["costs"]
    assert rows[0]["told"].partition(";")[0] == "measured: CPU time of drawing and of keeping the output"


def test_a_run_too_short_for_a_frame_prints_its_output(tmp_path: Path) -> None:
    """The alternate screen is never entered, nor left."""
    traced = live(tmp_path, "import os\nos.write(1, b'short')\nos._exit(4)")

    assert traced.end() == 4
    assert own_lines(traced.sent).endswith(b"short")


def test_a_script_that_crashes_shows_its_traceback_afterwards(tmp_path: Path) -> None:
    """The terminal is restored."""
    traced = live(tmp_path, "import time\ntime.sleep(0.7)\nraise ValueError('bad')")

    assert traced.end() == 1
    assert traced.main_screen().endswith(b"ValueError: bad\r\n")
    assert traced.modes() == traced.modes_before


def test_a_script_that_is_killed_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    """Exit code 128 + 9, and what it had printed."""
    traced = live(tmp_path, "import os, time\nprint('said')\ntime.sleep(0.7)\nos.kill(os.getpid(), 9)")

    assert traced.end() == 137
    assert own_lines(traced.main_screen()) == b"said\r\n"
    assert traced.modes() == traced.modes_before


def test_one_interrupt_is_the_scripts(tmp_path: Path) -> None:
    """Ctrl-C once: it is handled, dlprof ends with the script's code."""
    traced = live(
        tmp_path,
        """
        import time
        try:
            print("waiting")
            time.sleep(30)
        except KeyboardInterrupt:
            print("stopped politely")
            raise SystemExit(9)
        """,
    )
    traced.wait_for(lambda text: "waiting" in text and "script for" in text)

    traced.type(b"\x03")

    assert traced.end() == 9
    assert own_lines(traced.main_screen()) == b"waiting\r\nstopped politely\r\n"
    assert traced.modes() == traced.modes_before


def test_a_second_interrupt_ends_a_script_that_does_not_listen(tmp_path: Path) -> None:
    """As without --live."""
    traced = live(
        tmp_path,
        """
        import signal, time
        signal.signal(signal.SIGINT, lambda *_: print("no"))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("waiting")
        while True:
            time.sleep(0.1)
        """,
    )
    traced.wait_for(lambda text: "waiting" in text and "script for" in text)

    traced.type(b"\x03")
    traced.wait_for(lambda text: "no\n" in text and "interrupted, Ctrl-C again ends it" in text)
    traced.type(b"\x03")

    assert traced.end() == 137
    assert own_lines(traced.main_screen()) == b"waiting\r\nno\r\nno\r\n"
    assert traced.modes() == traced.modes_before


def test_keys_reach_the_script(tmp_path: Path) -> None:
    """Edited by its terminal, echoed in its output, up to Ctrl-D."""
    traced = live(tmp_path, "name = input('name? ')\nimport sys\nprint(name.upper(), sys.stdin.read())")
    traced.wait_for(lambda text: "name?" in text)

    traced.type(b"ax\x7fnna\r")
    traced.wait_for(lambda text: "name? anna" in text)
    traced.type(b"more\r\x04")

    assert traced.end() == 0
    assert own_lines(traced.main_screen()) == b"name? ax\b \bnna\r\nmore\r\nANNA more\r\n\r\n"


def test_a_new_size_reaches_the_script_and_the_screen(tmp_path: Path) -> None:
    """SIGWINCH, and the size of its own terminal."""
    traced = live(
        tmp_path,
        """
        import os, signal, time
        seen = []
        signal.signal(signal.SIGWINCH, lambda *_: seen.append(os.get_terminal_size()))
        print("waiting")
        while not seen or seen[-1].columns != 70:
            time.sleep(0.05)
        print(tuple(seen[-1]))
        """,
    )
    traced.wait_for(lambda text: "waiting" in text and "script for" in text)

    traced.resize(70, 20)
    assert traced.end() == 0

    assert own_lines(traced.main_screen()) == b"waiting\r\n(70, 20)\r\n"


def test_what_is_redirected_stays_untouched(tmp_path: Path) -> None:
    """Standard output goes to a file, as it came; standard error is on the terminal."""
    runner.write(tmp_path, "script.py", TALKER.replace("os.get_terminal_size()", "0"))
    traced = OnTerminal(["sh", "-c", " ".join(LIVE) + " > out"], cwd=tmp_path)
    traced.wait_for(lambda text: "script for" in text)
    seen(tmp_path)

    assert traced.end() == 3
    assert (tmp_path / "out").read_bytes().startswith(b"True False True 0\n\rworking on 0\r")
    assert own_lines(traced.main_screen()) == b"error\r\n"


def test_without_a_terminal_the_run_goes_on_with_a_sentence(tmp_path: Path) -> None:
    """A pipe, a file, a job of CI."""
    runner.write(tmp_path, "script.py", "print('ran')")

    done = runner.trace("script.py", "--live", cwd=tmp_path)

    assert (done.out, done.code) == ("ran\n", 0)
    assert "dlprof: --live: standard error is no terminal; the run goes on without a screen\n" in done.err


@pytest.mark.parametrize(
    ("flags", "term", "sentence"),
    [
        ("", "dumb", b"dlprof: --live: the terminal is said to be dumb (TERM); the run goes on without a screen\r\n"),
        ("--no-progress", "xterm", b""),
    ],
)
def test_no_screen_is_drawn_where_none_is_wanted(flags: str, term: str, sentence: bytes, tmp_path: Path) -> None:
    """A dumb terminal, or --no-progress."""
    runner.write(tmp_path, "script.py", "import time\ntime.sleep(0.7)\nprint('ran')")
    traced = OnTerminal([*LIVE, *flags.split()], cwd=tmp_path, env={"TERM": term})

    assert traced.end() == 0
    assert b"ran\r\n" in traced.sent
    assert ENTER not in traced.sent
    assert sentence in traced.sent
    assert b"--live" not in traced.sent.replace(sentence, b"")


def test_much_output_is_complete_and_does_not_stop_the_script(tmp_path: Path) -> None:
    """4 MB, far more than any buffer holds."""
    script = """
        import time
        for number in range(40_000):
            print("%06d" % number + "x" * 93)
        time.sleep(0.5)
    """
    traced = live(tmp_path, script)
    lines = own_lines(traced.main_screen() if traced.end(200) == 0 else b"").splitlines()

    assert len(lines) == 40_000
    assert all(line == b"%06d" % number + b"x" * 93 for number, line in enumerate(lines))


def test_a_view_that_fails_gives_the_terminal_back_and_the_run_goes_on(tmp_path: Path) -> None:
    """Output goes straight to the terminal from then on, keys still reach the script, and the ledger says why."""
    runner.write(tmp_path, "script.py", "print('first')\nname = input('name? ')\nprint('hello', name)")
    code = """if True:
        import sys
        from dlprof.__main__ import main
        from dlprof.live.screen import Screen
        shown = []
        def rows(self, *args, true=Screen.rows):
            shown.append(1)
            if len(shown) > 3:
                raise RuntimeError("no more")
            return true(self, *args)
        Screen.rows = rows
        sys.exit(main())
    """
    traced = OnTerminal([sys.executable, "-c", code, *LIVE[3:]], cwd=tmp_path)
    traced.wait_for(lambda text: "name?" in text and "output of the script" not in text and LEAVE in traced.sent)

    traced.type(b"anna\r")

    assert traced.end() == 0
    assert own_lines(traced.main_screen()) == b"first\r\nname? anna\r\nhello anna\r\n"
    assert b"dlprof: the live view ended early: RuntimeError: no more\r\n" in traced.sent
    assert traced.modes() == traced.modes_before
    assert live_probe(tmp_path)["reason"] == "RuntimeError: no more"


def keeper_of(pid: int) -> psutil.Process:
    """The process that keeps the script's terminal."""
    return next(p for p in psutil.Process(pid).children() if "keeper.py" in " ".join(p.cmdline()))


def test_killing_the_keeper_again_and_again_loses_no_output(tmp_path: Path) -> None:
    """Kill -9: another one hands the script's output through; at most what was printed comes twice."""
    traced = live(tmp_path, "import time\nfor n in range(50):\n    print('line', n)\n    time.sleep(0.1)")
    traced.wait_for(lambda text: "line 3" in text and "script for" in text)

    keeper_of(traced.pid).kill()
    traced.wait_for(lambda text: not traced.alternate and "line 9" in text)
    printed = traced.main_screen()
    keeper_of(traced.pid).kill()

    assert traced.end() == 0
    assert b"".join(b"line %d\r\n" % n for n in range(10)) in printed
    assert b"".join(b"line %d\r\n" % n for n in range(50)) in own_lines(traced.main_screen())
    assert traced.modes() == traced.modes_before


def test_killing_dlprof_restores_the_terminal_and_loses_no_output(tmp_path: Path) -> None:
    """Kill -9: the script ends as ever, and what it printed is there."""
    runner.write(tmp_path, "script.py", "import time\nprint('said')\ntime.sleep(60)")
    # A shell around it: with the leader of the session the terminal itself would go.
    traced = OnTerminal(["sh", "-c", " ".join(LIVE) + "; sleep 2; exit 5"], cwd=tmp_path)
    traced.wait_for(lambda text: "said" in text and "script for" in text)
    dlprof = next(p for p in psutil.Process(traced.pid).children() if "dlprof" in " ".join(p.cmdline()))
    others = dlprof.children(recursive=True)

    dlprof.kill()

    assert traced.end() == 5
    assert len(others) >= 3
    assert runner.all_gone(others)
    assert b"said\r\n" in own_lines(traced.main_screen())
    assert traced.modes() == traced.modes_before


def test_processes_that_outlive_the_script_keep_their_terminal(tmp_path: Path) -> None:
    """What the script left running prints on, after dlprof has ended."""
    code = "import os, time\nwhile not os.path.exists('ended'): time.sleep(0.1)\nprint('still here', flush=True)"
    runner.write(
        tmp_path,
        "script.py",
        f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {code!r}])\ntime.sleep(0.7)\nprint('done')\n",
    )
    traced = OnTerminal(["sh", "-c", " ".join(LIVE) + "; echo ended $?; touch ended; sleep 2"], cwd=tmp_path)

    assert traced.end() == 0
    said = own_lines(traced.main_screen())
    assert said.index(b"done\r\n") < said.index(b"ended 0\r\n") < said.index(b"still here\r\n")


def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back(tmp_path: Path) -> None:
    """The screen is left while the job is stopped."""
    runner.write(tmp_path, "script.py", "import time\nfor n in range(40):\n    print('line', n)\n    time.sleep(0.1)")
    shell = OnTerminal(["bash", "--norc", "--noprofile", "-i"], cwd=tmp_path, env={"PS1": "$ "})
    shell.wait_for(lambda text: "$" in text)
    shell.type(" ".join(LIVE).encode() + b"\r")
    shell.wait_for(lambda text: "line 3" in text and "script for" in text)

    shell.type(b"\x1a")
    shell.wait_for(lambda text: "Stopped" in text)
    stopped = shell.sent.count(LEAVE)
    shell.type(b"fg\r")
    shell.wait_for(lambda text: "script for" in text)
    shell.wait_for(lambda text: "line 39" in text and text.rstrip().endswith("$"))  # what comes before is dlprof's
    shell.type(b"exit\r")

    assert shell.end() == 0
    assert stopped == 1
    assert shell.sent.count(ENTER) == shell.sent.count(LEAVE) == 2
    for number in range(40):
        assert b"line %d\r\n" % number in shell.main_screen()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
def test_a_full_disk_ends_the_view_and_loses_no_output(tmp_path: Path) -> None:
    """What the spool cannot take goes straight to the terminal."""
    small = tmp_path / "small"
    small.mkdir()
    if os.system(f"mount -t tmpfs -o size=1500k tmpfs {small} 2>/dev/null"):
        pytest.skip("tmpfs cannot be mounted here")
    try:
        script = (
            "import time\ntime.sleep(0.7)\nfor n in range(30_000):\n    print('%06d' % n + 'x' * 93)\ntime.sleep(0.5)"
        )
        runner.write(tmp_path, "script.py", script)
        command = [part if part != "run" else str(small / "run") for part in LIVE]
        traced = OnTerminal(command, cwd=tmp_path)
        code = traced.end()
    finally:
        time.sleep(0.2)
        os.system(f"umount {small}")

    assert code == 0
    lines = [line for line in own_lines(traced.main_screen()).splitlines() if line]
    assert lines == [b"%06d" % number + b"x" * 93 for number in range(30_000)]
    assert b"dlprof: the live view ended early: the script's output cannot be kept: the disk is full" in traced.sent


def test_a_signal_to_dlprof_alone_ends_the_script_and_restores_the_terminal(tmp_path: Path) -> None:
    """SIGTERM, as from a job scheduler."""
    traced = live(tmp_path, "import time\nprint('said')\ntime.sleep(60)")
    traced.wait_for(lambda text: "said" in text and "script for" in text)

    os.kill(traced.pid, signal.SIGTERM)

    assert traced.end() == 128 + signal.SIGTERM
    assert own_lines(traced.main_screen()) == b"said\r\n"
    assert traced.modes() == traced.modes_before


def test_a_terminal_that_is_closed_ends_the_script_as_ever(tmp_path: Path) -> None:
    """SIGHUP; nothing is left behind, and the run opens."""
    traced = live(tmp_path, "import time\nprint('said')\ntime.sleep(60)")
    traced.wait_for(lambda text: "said" in text and "script for" in text)
    others = psutil.Process(traced.pid).children(recursive=True)

    traced.hang_up()

    assert len(others) >= 3
    assert runner.all_gone([*others, psutil.Process(traced.pid)])
    assert runner.report(tmp_path)["exit"]["signal"] == signal.SIGHUP


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "backend", [pytest.param(name, marks=pytest.mark.backend(name)) for name in ("tensorflow", "torch")]
)
def test_epoch_step_and_loss_of_a_real_training_are_on_the_screen(
    backend: str, tmp_path: Path, scenarios: Path
) -> None:
    """And afterwards the script's output is the same as in a file."""
    command = [*runner.DLPROF, "trace", str(scenarios / "mlp.py"), "--backend", backend, "--live", "-o", "run"]
    sizes = ["--samples", "2048", "--epochs", "8", "--batch-size", "64"]
    traced = OnTerminal([*command, "--", *sizes], cwd=tmp_path, columns=120, rows=40)
    shown = traced.wait_for(
        lambda text: re.search(r"train steps · epoch [2-8]/8", text) and "step " in text and " loss " in text, 300
    )

    assert traced.end(800) == 0
    assert f"dlprof  mlp on {backend}" in shown
    assert "train steps · epoch " in shown
    assert "/32" in shown
    assert " per second" in shown
    assert " loss " in shown
    assert "fit.steps" in shown
    assert "import " in shown
    after = traced.main_screen().decode()
    assert "Epoch 8/8\r\n" in after
    assert "final loss " in after
    assert "Next     dlprof view" in after
