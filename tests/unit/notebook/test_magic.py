"""`%%dlprof`: its flags, what it refuses, and what it leaves in the notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

import dlprof
from tests.unit.notebook.shells import HERE, Shell, elsewhere, rows


def test_the_run_is_kept_in_a_variable_and_among_the_runs(shell: Shell) -> None:
    """`_dlprof`, or the name of `--into`."""
    shell.run(f"{HERE}\n1")
    shell.run(f"{HERE} --into second\n2")

    assert shell.names["second"].name == dlprof.open("last").name
    assert shell.names["_dlprof"].name != shell.names["second"].name
    assert shell.names["second"].summary["script"] == "cell.py"
    assert shell.names["second"].manifest["backend"]["source"] == "notebook"


def test_the_report_is_displayed(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """By its plain text where there is no browser."""
    shell.run("%%dlprof --probes phases\n1;")

    assert f"<dlprof run {shell.names['_dlprof'].name}>" in capsys.readouterr().out


def test_a_syntax_error_is_shown_and_nothing_is_traced(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no run."""
    result = shell.run(f"{HERE}\nx = = 1")

    assert isinstance(result.error_in_exec, SyntaxError)
    assert "x = = 1" in capsys.readouterr().out
    assert "_dlprof" not in shell.names
    assert not Path("dlprof_runs").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--probes nothing", "There is no probe nothing."),
        ("--into 3x", "--into takes the name of a variable, not 3x"),
        ("--wrong", "unrecognized arguments: --wrong"),
        ("-o dlprof_full", "The output folder dlprof_full exists and is not empty."),
    ],
)
def test_a_wrong_flag_is_one_line(shell: Shell, capsys: pytest.CaptureFixture[str], flags: str, message: str) -> None:
    """And the cell is not run."""
    Path("dlprof_full").mkdir()
    Path("dlprof_full", "file").write_text("")

    result = shell.run(f"%%dlprof {flags}\nran = True")

    assert not result.success
    assert message in capsys.readouterr().err
    assert "ran" not in shell.names


def test_a_cell_that_awaits_is_refused(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """The loop of the notebook runs already."""
    shell.run(f"{HERE}\nimport asyncio\nawait asyncio.sleep(0)")

    assert "a traced cell cannot await at its top level" in capsys.readouterr().err


def test_a_traced_cell_cannot_trace_another(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """The probes are there once."""
    result = shell.run(f"{HERE}\nget_ipython().run_cell_magic('dlprof', '', '1')")

    assert not result.success
    assert "a traced cell cannot trace another" in capsys.readouterr().err
    assert shell.run(f"{HERE}\n1").success


@pytest.mark.usefixtures("untraced")
def test_lines_of_a_function_of_the_notebook_are_counted_when_asked_for(shell: Shell) -> None:
    """Under the number of its cell; its code is its own again afterwards."""
    shell.run("def work():\n    x = 1\n    return x")
    code = shell.names["work"].__code__

    shell.run(f"{HERE} --lines work\nwork()")

    assert [row[:4] for row in rows(shell.names["_dlprof"]) if row[1] == "work"] == [
        ("In[2]", "work", 2, 1),
        ("In[2]", "work", 3, 1),
    ]
    assert shell.names["work"].__code__ is code


def test_magics_in_a_process_of_its_own_are_refused(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no IPython."""
    shell.run(elsewhere("!ls"))

    assert "in a process of its own a cell is plain Python" in capsys.readouterr().err


def test_a_name_of_lines_that_is_nothing_is_told(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Functions of the notebook, of the cell itself, modules and files are something."""
    Path("beside.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    shell.run("def before(): pass")
    names = "before,inside,textwrap,./beside.py,nofunc"
    shell.run(f"%%dlprof --probes phases,lines --no-report --lines {names}\nimport textwrap, beside\ndef inside(): 0")

    told = [line for line in capsys.readouterr().err.splitlines() if "was counted" in line]
    assert [line.partition(" was counted")[0] for line in told] == ["dlprof: no line of nofunc"]
