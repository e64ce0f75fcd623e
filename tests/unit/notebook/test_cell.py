"""A traced cell is the notebook's own: names, output and errors are as without `%%dlprof`."""

from __future__ import annotations

import os

import pytest

from tests.unit.notebook.shells import HERE, Shell


def test_a_traced_cell_uses_the_names_of_the_notebook_and_leaves_its_own(shell: Shell) -> None:
    """As if there were no magic."""
    shell.run("a = 3")

    result = shell.run(f"{HERE}\nb = a + 1\ndef double(x):\n    return 2 * x\n")

    assert result.success
    assert shell.names["b"] == 4
    assert shell.run("double(b)").result == 8


def test_a_value_at_the_end_is_displayed_and_kept_as_underscore(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a semicolon keeps it from being displayed."""
    shell.run(f"{HERE}\n6 * 7")
    shell.run(f"{HERE}\n'not' + ' shown';")

    out = capsys.readouterr().out
    assert "Out[2]: 42" in out
    assert "not shown" not in out
    assert shell.names["_2"] == 42


def test_magics_and_commands_work_in_a_traced_cell(shell: Shell) -> None:
    """They are IPython's own."""
    shell.run(f"{HERE}\nfiles = !echo one\nwhere = %pwd")

    assert list(shell.names["files"]) == ["one"]
    assert shell.names["where"] == os.getcwd()


def test_an_exception_is_shown_as_ipython_shows_it(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """To the letter as without the magic; the cell has failed."""
    shell.run("def broken():\n    return 1 / 0")
    capsys.readouterr()

    result = shell.run(f"{HERE}\nz = 5\nbroken()\nz = 6")

    shown = capsys.readouterr()
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert shell.names["z"] == 5
    assert "dlprof: the run up to here is in _dlprof" in shown.err
    assert shell.names["_dlprof"].manifest["process"]["exit_code"] == 1
    shell.run("z = 5\nbroken()\nz = 6")
    assert shown.out == capsys.readouterr().out.replace("In[4]", "In[3]")
    assert "ZeroDivisionError: division by zero" in shown.out


def test_an_exception_that_passed_through_hooks_shows_none_of_them(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    """An import that fails goes through the wrapper of the import system."""
    shell.run(f"{HERE}\nimport no_such_module_anywhere")

    shown = capsys.readouterr().out
    assert "ModuleNotFoundError: No module named 'no_such_module_anywhere'" in shown
    assert "dlprof" not in shown


def test_a_caught_exception_is_printed_without_our_frames(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """By the traceback module."""
    shell.run(
        f"{HERE}\nimport traceback\ntry:\n    import no_such_module\nexcept ImportError:\n    traceback.print_exc()"
    )

    assert "dlprof" not in capsys.readouterr().err


def test_showing_an_exception_is_no_part_of_the_run(shell: Shell) -> None:
    """IPython may load half of itself for that."""
    shell.run(f"{HERE}\n1 / 0")

    assert "import" not in shell.names["_dlprof"].phases().index


def test_an_exit_is_told_by_its_code(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """The notebook goes on."""
    with pytest.warns(UserWarning, match="To exit: use"):
        shell.run(f"{HERE}\nraise SystemExit(3)")

    assert shell.names["_dlprof"].manifest["process"]["exit_code"] == 3
    assert capsys.readouterr().out.count("An exception has occurred") == 1


def test_a_value_that_cannot_be_displayed_is_said_so(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """By IPython; the cell has not failed."""
    result = shell.run(f"{HERE}\nclass Shy:\n    def __repr__(self): raise ValueError('shy')\nShy()")

    assert result.success
    assert "ValueError: shy" in capsys.readouterr().out


def test_an_interrupt_ends_the_cell_and_keeps_the_run(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """As Interrupt of a notebook sends it."""
    result = shell.run(f"{HERE}\nimport os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(30)")

    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert "KeyboardInterrupt" in capsys.readouterr().out
    assert shell.names["_dlprof"].manifest["state"] == "interrupted"
