"""Scripts that complete the words of dlprof."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from dlprof import cli
from dlprof.cli import shells

COMPLETIONS = shells.all_completions()


def completed(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words, in a folder."""
    script = (
        f"{shells.bash(COMPLETIONS)}\nCOMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}\n"
        '_dlprof\nprintf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two runs."""
    for name in ("mlp-jax", "cnn-jax"):
        (tmp_path / "dlprof_runs" / name).mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("dlprof", "exp"), ["export"]),
        (("dlprof", "kernels", "--by", "la"), ["layer"]),
        (("dlprof", "kernels", "--ph"), ["--phase"]),
        (("dlprof", "export", "m"), ["mlp-jax"]),
        (("dlprof", "compare", "last", "cn"), ["cnn-jax"]),
        (("dlprof", "backends", "ins"), ["install"]),
        (("dlprof", "help", "exit"), ["exit-codes"]),
        (("dlprof", "help", "input-b"), ["input-bound"]),
        (("dlprof", "help", "stragg"), ["straggler"]),
        (("dlprof", "--color", "al"), ["always"]),
        (("dlprof", "completion", "f"), ["fish"]),
        (("dlprof", "trace", "--rep"), ["--repeat"]),
        (("dlprof", "trace", "--backend", "tensorflow1"), ["tensorflow1"]),
        (("dlprof", "backends", "install", "mx"), ["mxnet"]),
        (("dlprof", "scenarios", "copy", "trans"), ["transformer"]),
        (("dlprof", "demo", "--js"), ["--json"]),
        (("dlprof", "help", "--m"), ["--man"]),
    ],
)
def test_bash_completes(folder: Path, words: tuple[str, ...], expected: list[str]) -> None:
    """Commands, options, their values, runs, subcommands, topics and findings."""
    assert completed(folder, *words) == expected


def test_every_command_and_option_is_known() -> None:
    """As the parser knows it."""
    parsers = cli.make_parser(*cli.COMMANDS).subcommands()
    known = {one.command: {flag for option in one.options for flag in option.flags} for one in COMPLETIONS}

    assert set(known) == {"", *cli.COMMANDS}
    assert [name for name, parser in parsers.items() if not set(parser.flags()) <= known[name]] == []


def test_fish_gets_a_line_for_each_option() -> None:
    """With what it does, and what it takes."""
    lines = shells.fish(COMPLETIONS).splitlines()

    begin = "complete -c dlprof -n '__fish_seen_subcommand_from kernels'"
    assert f"{begin} -l phase -r -d 'only what began in this phase (fit, fit.steps, evaluate)'" in lines
    assert any(re.fullmatch(rf"{re.escape(begin)} -l by -x -a 'kernel op layer .*", line) for line in lines)
    assert f"{begin} -a 'last (ls dlprof_runs 2> /dev/null)'" in lines


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_find_no_fault_in_their_scripts(shell: str, tmp_path: Path) -> None:
    """Where they are installed."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(shells.SCRIPTS[shell](COMPLETIONS))

    assert subprocess.run([shell, "-n", str(tmp_path / "script")], check=False).returncode == 0
