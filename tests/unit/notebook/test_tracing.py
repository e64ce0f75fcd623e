"""Scripts traced from Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import dlprof
from dlprof.errors import NoInputError, UnavailableError, UsageError
from dlprof.notebook import fresh, tracing
from tests.unit import runs


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Sequence[str]]:
    """Flags and arguments that a dlprof of its own would have been started with; it leaves a run."""
    found: list[Sequence[str]] = []

    def instead(
        script: str, flags: Sequence[str], output: Path, *, arguments: Sequence[str], holds: str
    ) -> fresh.Ended:
        runs.trained(output)
        found.extend(([script], flags, arguments))
        return fresh.Ended(0, interrupted=False, said="")

    monkeypatch.setattr(fresh, "run_script", instead)
    monkeypatch.chdir(tmp_path)
    return found


def test_settings_are_the_options_of_the_command(asked: list[Sequence[str]]) -> None:
    """What is not given is not said."""
    run = dlprof.trace(
        "train.py", ["--epochs", "3"], backend="jax", probes=["phases", "cores"], lines=["a", "b.py"],
        kernel_steps=5, follow=False, keep_arguments=False, output="r", unit="ms",
    )  # fmt: skip

    assert asked == [
        ["train.py"],
        ["--backend=jax", "--probes=phases,cores", "--lines=a", "--lines=b.py", "--kernel-steps=5", "--no-follow"],
        ["--epochs", "3"],
    ]
    assert (run.path, run.unit) == (Path("r").absolute(), "ms")


def test_a_run_without_a_folder_goes_where_those_of_the_command_go(asked: list[Sequence[str]]) -> None:
    """With the script and the backend in its name."""
    run = dlprof.trace("deep/train.py", backend="jax")

    assert run.path.parent.name == "dlprof_runs"
    assert run.name.endswith("-train-jax")
    assert asked[0] == ["deep/train.py"]


def test_every_setting_is_an_option_of_the_command() -> None:
    """So that none can be refused."""
    from dlprof import cli

    flags = set(cli.make_parser("trace").subcommands()["trace"].flags())

    assert {f"--{name.replace('_', '-')}" for name in tracing.Settings.__annotations__} <= flags


def test_an_unknown_setting_is_refused_with_the_nearest() -> None:
    """Before anything is started."""
    with pytest.raises(UsageError, match=r"There is no setting prob; did you mean probes\?"):
        dlprof.trace("train.py", prob="all")  # type: ignore[call-arg]


SAID = {
    NoInputError: (66, "dlprof: error: There is no script x.py.\n  try: look\n", "There is no script x.py.", "look"),
    UnavailableError: (69, "a warning\ndlprof: error: No backend.\n", "No backend.", None),
    dlprof.DlprofError: (1, "", "dlprof ended with exit code 1 before the script was started.", None),
}
"""Kind of an error to exit code and words of a dlprof that could not begin, its message and its hint."""


@pytest.mark.parametrize("kind", SAID)
def test_what_dlprof_says_when_it_cannot_begin_is_raised(
    kind: type[dlprof.DlprofError], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By its kind, with what to try."""
    code, said, message, hint = SAID[kind]
    ended = fresh.Ended(code, interrupted=False, said=said)
    monkeypatch.setattr(fresh, "run_script", lambda *_given, **_more: ended)

    with pytest.raises(kind) as told:
        dlprof.trace("x.py", output=tmp_path / "r")

    assert (told.value.message, told.value.hint) == (message, hint)


@pytest.mark.slow
def test_a_script_is_traced_and_its_run_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it prints is shown; its arguments are its own; a failure of its own is told by the run."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("import sys\nprint('got', sys.argv[1:])\nsys.exit(3)\n")

    run = dlprof.trace("train.py", ["--epochs", "2"], probes="phases,lines", output="r")

    assert capsys.readouterr().out == "got ['--epochs', '2']\n"
    assert (run.exit_code, run.name) == (3, "r")
    assert list(run.lines()["source"])[1] == "print('got', sys.argv[1:])"


@pytest.mark.slow
def test_a_script_that_is_not_there_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the error of dlprof itself; it is raised, not printed as well."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(NoInputError, match=r"There is no script nothing\.py"):
        dlprof.trace("nothing.py")
    assert "error" not in capsys.readouterr().err
