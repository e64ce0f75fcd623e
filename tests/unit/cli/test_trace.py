"""`dlprof trace`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from dlprof.cli import trace
from dlprof.config import SETTABLE, TraceConfig
from dlprof.errors import BadDataError, DlprofError
from dlprof.launch.process import Outcome
from dlprof.live import terminal, view
from dlprof.pipeline import trace as pipeline
from dlprof.pipeline.storing import Traced
from dlprof.report import text
from dlprof.store.run import Run
from tests.unit.runs import dlprof, trained

NO_FLAG = {"max_memory", "overrides"}
"""Settings that only trials of dlprof's own give."""


class Runs:
    """Stands in for the tracing itself."""

    def __init__(self, run: Run | None) -> None:
        self.run = run
        self.codes: list[int] = []
        """Exit codes of the runs to come; then 0."""
        self.failure: DlprofError | None = None
        self.configs: list[TraceConfig] = []
        self.views: list[Any] = []

    def trace(self, config: TraceConfig, *, report: Any, view: Any, meanwhile: Any = None) -> Traced:
        """Remember what is asked for."""
        report("starting")
        self.configs.append(config)
        self.views.append(view)
        code = self.codes.pop(0) if self.codes else 0
        return Traced(Outcome(code, None, 0, 1, 0, 0, 0, {}, killed=False), self.run, self.failure)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Every run is the same stored one; the current folder has no settings."""
    made = Runs(trained(tmp_path / "r"))
    monkeypatch.setattr(pipeline, "trace", made.trace)
    monkeypatch.chdir(tmp_path)
    for name in SETTABLE:
        monkeypatch.delenv(f"DLPROF_{name.upper()}", raising=False)
    return made


def asked(runs: Runs, *words: str) -> TraceConfig:
    """The settings that a command line makes."""
    assert dlprof("trace", *words) == 0
    return runs.configs[-1]


def test_every_setting_is_a_flag() -> None:
    """And is called the same."""
    assert set(SETTABLE) - {field.name for field in fields(trace.Arguments)} == NO_FLAG


def test_flags_become_settings(runs: Runs) -> None:
    """What comes after two dashes is the script's."""
    config = asked(
        runs, "train.py", "--backend", "mxnet", "--kernels", "off", "--stacks-hz", "5", "--", "--epochs", "3"
    )

    assert (config.script, config.arguments) == ("train.py", ("--epochs", "3"))
    assert (config.backend, config.kernels, config.stacks_hz) == ("mxnet", "off", 5.0)
    assert dict(config.origins)["backend"] == "command line"


def test_flags_that_were_not_given_leave_other_settings_alone(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as those of the environment."""
    monkeypatch.setenv("DLPROF_KERNELS", "all")

    assert asked(runs, "train.py").kernels == "all"
    assert asked(runs, "train.py", "--kernels", "off").kernels == "off"


def test_a_module_is_run_as_python_does(runs: Runs) -> None:
    """With its own arguments."""
    config = asked(runs, "-m", "package.train", "--", "x")

    assert (config.module, config.arguments) == ("package.train", ("x",))


def test_any_program_is_run_from_the_outside(runs: Runs) -> None:
    """The first word is the program."""
    config = asked(runs, "--exec", "--", "julia", "train.jl")

    assert (config.program, config.arguments, config.script) == ("julia", ("train.jl",), "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "There is no script to trace."),
        (["a.py", "-m", "b"], "Give a script or -m MODULE, not both."),
        (["--exec"], "There is no program to run."),
        (["a.py", "--exec", "--", "b"], "--exec runs a program as it is"),
        (["--backend", "jax", "--exec", "--", "b"], "--exec runs a program as it is"),
        (["a.py", "--repeat", "0"], "--repeat must lie between 1 and 1000, not 0."),
    ],
)
def test_what_makes_no_sense_is_refused(
    runs: Runs, words: Sequence[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is run."""
    assert dlprof("trace", *words) == 64
    assert message in capsys.readouterr().err
    assert runs.configs == []


def test_the_report_is_printed_beside_the_scripts_output(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    """On standard error; not with --no-report."""
    assert dlprof("trace", "train.py") == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "fit 6.00 s (60.0 %)" in printed.err

    assert dlprof("trace", "train.py", "--no-report") == 0
    assert "Phases" not in capsys.readouterr().err


def test_it_ends_as_the_script_ended(runs: Runs) -> None:
    """With its exit code."""
    runs.codes = [3]

    assert dlprof("trace", "train.py", "--no-report") == 3


def test_a_run_that_could_not_be_stored_is_told(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is the script's all the same."""
    runs.run, runs.failure, runs.codes = None, DlprofError("The disk is full."), [2]

    assert dlprof("trace", "train.py") == 2
    assert "the run could not be stored: The disk is full." in capsys.readouterr().err


def test_repeats_go_into_a_folder_of_their_own(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    """Each with a number; what they have in common is printed at the end."""
    assert dlprof("trace", "train.py", "--repeat", "3", "-o", "base") == 0

    assert [Path(str(config.output)).parts[-2:] for config in runs.configs] == [
        ("base", "001"),
        ("base", "002"),
        ("base", "003"),
    ]
    said = capsys.readouterr().err
    assert "dlprof: run 3 of 3" in said
    assert "runs in " in said


def test_the_first_failure_ends_the_repeats(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    """With its exit code."""
    runs.codes = [0, 5]

    assert dlprof("trace", "train.py", "--repeat", "3") == 5
    assert len(runs.configs) == 2
    assert "run 2 ended with exit code 5: no more runs" in capsys.readouterr().err


def test_repeats_without_a_report_print_none(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what is running."""
    assert dlprof("trace", "train.py", "--repeat", "2", "--no-report") == 0
    assert "runs in " not in capsys.readouterr().err


def test_live_without_a_terminal_goes_on_without_a_screen(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says why."""
    monkeypatch.setattr(terminal, "refusal", lambda _environ: "there is no terminal")

    assert asked(runs, "train.py", "--live").live is False
    assert "--live: there is no terminal; the run goes on without a screen" in capsys.readouterr().err


def test_live_is_shown_where_there_is_a_terminal(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """But not without progress."""
    monkeypatch.setattr(terminal, "refusal", lambda _environ: None)
    monkeypatch.setattr(view, "LiveView", lambda config, _say: ("live", config.live))

    assert asked(runs, "train.py", "--live").live is True
    assert runs.views == [("live", True)]
    assert asked(runs, "train.py", "--live", "--no-progress").live is False


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BadDataError("The table steps is damaged."), "dlprof: there is no report: The table steps is damaged.\n"),
        (KeyError("x"), "dlprof: there is no report, by a bug in dlprof: KeyError: 'x'\n"),
    ],
)
def test_a_report_that_fails_leaves_the_exit_code_the_scripts(
    runs: Runs, error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script has run: nobody is to think that it failed."""

    def fail(*_given: object, **_named: object) -> None:
        raise error

    monkeypatch.delenv("DLPROF_DEBUG", raising=False)
    monkeypatch.setattr(text, "print_answer", fail)
    runs.codes = [5]

    assert dlprof("trace", "train.py") == 5
    assert capsys.readouterr().err.endswith(said)


def test_one_of_several_ranks_is_not_repeated(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What starts all of them can be."""
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert dlprof("trace", "train.py", "--repeat", "3", "-o", "base") == 64
    assert "--repeat is for one process, and this is one of several ranks." in capsys.readouterr().err


def test_python_and_a_module_of_it_are_told_as_options(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    """Who typed `dlprof trace python -m package.train` gave no script."""
    assert dlprof("trace", "python", "-m", "package.train") == 64

    assert not runs.configs
    assert capsys.readouterr().err.endswith("  try: dlprof trace -m package.train --python python\n")
