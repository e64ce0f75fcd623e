"""A cell in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dlprof.notebook import fresh
from tests.unit.notebook.shells import Shell, elsewhere, rows


@pytest.mark.slow
def test_a_cell_in_a_process_of_its_own_leaves_the_names_of_the_notebook_alone(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its output comes to the notebook; modules beside the notebook are found."""
    Path("beside.py").write_text("value = 7\n")

    result = shell.run(
        elsewhere("import beside, sys\nx = beside.value\nprint('x is', x)\nprint('oh', file=sys.stderr)")
    )

    shown = capsys.readouterr()
    assert result.success
    assert shown.out == "x is 7\n"
    assert "oh\n" in shown.err
    assert "x" not in shell.names
    assert rows(shell.names["_dlprof"])[1] == ("cell.py", "<module>", 2, 1, "x = beside.value")


@pytest.mark.slow
def test_a_name_of_the_notebook_that_the_process_lacks_is_named(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to do."""
    shell.run("model = 1")

    result = shell.run(elsewhere("print(model)"))

    shown = capsys.readouterr().err
    assert not result.success
    assert "NameError: name 'model' is not defined" in shown
    assert "model is a name of the notebook, and the cell ran in a process of its own" in shown


@pytest.mark.slow
def test_a_process_that_fails_fails_the_cell(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """The run is kept."""
    result = shell.run(elsewhere("raise SystemExit(3)"))

    assert not result.success
    assert "the cell's process ended with exit code 3" in capsys.readouterr().err
    assert shell.names["_dlprof"].manifest["process"]["exit_code"] == 3


@pytest.mark.slow
def test_interrupt_reaches_the_process(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """The first one is the cell's own: it may end as it likes."""
    cell = elsewhere("""
        import time
        print("began", flush=True)
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            print("interrupted")
    """)

    def interrupt() -> None:
        for _ in range(300):
            if list(Path("dlprof_runs").glob("*/raw/inproc.wire")):
                break
            threading.Event().wait(0.1)
        threading.Event().wait(0.7)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    result = shell.run(cell)

    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert "interrupted\n" in capsys.readouterr().out
    assert json.loads(next(Path("dlprof_runs").glob("*/manifest.json")).read_text())["state"] == "interrupted"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("NameError: name 'model' is not defined", "model"),
        ("NameError: name 'x' is not defined\nNameError: name 'model' is not defined", "model"),
        ("NameError: name 'other' is not defined", None),
        ("ValueError: model", None),
    ],
)
def test_the_name_that_the_cell_lacks_is_the_last_one_that_the_notebook_has(said: str, name: str | None) -> None:
    """A name that the notebook lacks too is the cell's own mistake."""
    assert fresh.missing_name(said, {"model": 1, "x": 2}) == name


@pytest.mark.parametrize(
    ("text", "shown", "held"),
    [
        ("one\nmark: two\nthree\n", "one\n", "mark: two\nthree\n"),
        ("mark: two\n", "", "mark: two\n"),
        ("a mark: two\n", "a mark: two\n", ""),
    ],
)
def test_what_dlprof_says_last_can_be_held(
    text: str, shown: str, held: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the beginning of a line on; what is said is the whole in any case."""
    program = f"import sys; sys.stderr.write({text!r})"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        ended = fresh._Output(process, "mark: ").until_the_end()

    assert (capsys.readouterr().err, ended.held, ended.said) == (shown, held, text)
