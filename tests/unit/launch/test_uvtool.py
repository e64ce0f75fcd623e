"""Running uv: what it is told, how long it lives, and how its failures are put."""

from __future__ import annotations

import ast
import os
import pty
import stat
import sys
import termios
from pathlib import Path

import pytest

from dlprof.errors import CannotCreateError, DlprofError, UnavailableError
from dlprof.launch import uvtool


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for uv that writes down how it was called, says what `says` holds, and fails if that exists."""
    program = tmp_path / "uv"
    program.write_text(
        f"#!{sys.executable}\n"
        "import os, sys, pathlib\n"
        f"here = pathlib.Path({str(tmp_path)!r})\n"
        "(here / 'called').write_text(repr((sys.argv[1:], dict(os.environ), os.isatty(2))))\n"
        "(here / 'open').write_text(' '.join(os.listdir('/proc/self/fd')))\n"
        "if os.isatty(2):\n"
        "    sys.stderr.write('%d x %d' % os.get_terminal_size(2))\n\n"
        "says = here / 'says'\n"
        "if says.exists():\n"
        "    sys.stderr.write(says.read_text())\n"
        "    sys.exit(2)\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(uvtool, "find", lambda: str(program))
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return program


def called(uv: Path) -> tuple[list[str], dict[str, str], bool]:
    """Arguments and environment of the last call, and whether its standard error was a terminal."""
    return ast.literal_eval((uv.parent / "called").read_text())  # type: ignore[no-any-return]


def test_no_index_of_pip_is_passed_on(uv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an option of uv only: no variable of uv says it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    uvtool.run(["pip", "install", "six"], what="x")

    assert called(uv)[0] == ["pip", "install", "six", "--no-index"]


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["pip", "install"], {"PIP_NO_INDEX": "0"}),
        (["pip", "install"], {"PIP_NO_INDEX": "1", "UV_DEFAULT_INDEX": "https://a.example"}),
        (["venv", "x"], {"PIP_NO_INDEX": "1"}),
    ],
)
def test_no_index_is_left_out_where_it_is_not_meant(
    uv: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], variables: dict[str, str]
) -> None:
    """It is off, an index is named for uv itself, or nothing is installed."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    uvtool.run(arguments, what="x")

    assert called(uv)[0] == arguments


@pytest.mark.parametrize(
    ("own", "pips", "newer"),
    [
        ("UV_INDEX_URL", "PIP_INDEX_URL", "UV_DEFAULT_INDEX"),
        ("UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX"),
    ],
)
def test_the_older_variables_of_uv_win_over_pip_too(
    uv: Path, monkeypatch: pytest.MonkeyPatch, own: str, pips: str, newer: str
) -> None:
    """What is made of pip's settings has the newer name, which would outweigh them."""
    monkeypatch.setenv(own, "https://own.example")
    monkeypatch.setenv(pips, "https://pip.example")

    uvtool.run(["pip", "install"], what="x")

    environment = called(uv)[1]
    assert environment[own] == "https://own.example"
    assert newer not in environment


def test_variables_that_lead_to_other_environments_are_not_passed_on(uv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment that dlprof runs in is not the one that is made."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"):
        monkeypatch.setenv(name, "/nowhere")

    uvtool.run(["venv"], what="x")

    assert not {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"} & set(called(uv)[1])


@pytest.mark.parametrize(
    ("said", "kind", "reason"),
    [
        ("error: failed to write: No space left on device (os error 28)", CannotCreateError, "the disk is full"),
        ("cause: Read-only file system (os error 30)", CannotCreateError, "the folder cannot be written to"),
        (
            "error: Hash mismatch for `six==1.17.0`",
            UnavailableError,
            "a package of the index is not the one that was locked (hash mismatch)",
        ),
        (
            "cause: tcp connect error\ncause: Connection refused",
            UnavailableError,
            "the package index cannot be reached",
        ),
        ("error: operation timed out", UnavailableError, "the package index cannot be reached"),
        (
            "cause: error sending request for url\ncause: invalid peer certificate: UnknownIssuer",
            UnavailableError,
            "the certificate of the package index is not trusted on this machine",
        ),
        (
            "error: No solution found\nhint: An index returned a 403 Forbidden error.",
            UnavailableError,
            "the package index, or the proxy before it, refuses access",
        ),
        (
            "error: No solution found\nhint: index lookups were disabled",
            UnavailableError,
            "pip is set to use no index, and its find-links lack a package",
        ),
        (
            "error: No solution found when resolving\ncause: networkx==1 has no wheels with a matching Python ABI tag",
            UnavailableError,
            "the package index has no package for this machine and Python",
        ),
        (
            "error: Failed to parse environment variable `UV_HTTP_TIMEOUT` with invalid value `x`",
            UnavailableError,
            "Failed to parse environment variable `UV_HTTP_TIMEOUT` with invalid value `x`",
        ),
        ("\x1b[1m\x1b[31merror\x1b[39m\x1b[0m: odd\nhint: odder", UnavailableError, "odd"),
        ("", UnavailableError, "uv gave no reason"),
    ],
)
def test_failures_are_put_into_one_sentence(uv: Path, said: str, kind: type[DlprofError], reason: str) -> None:
    """With what mends it."""
    (uv.parent / "says").write_text(said)

    with pytest.raises(kind) as caught:
        uvtool.run(["pip", "install"], what="make it")

    assert caught.value.message.rstrip(".") == f"Cannot make it: {reason}"
    assert caught.value.hint


def test_a_program_that_does_not_start_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file that is no program stands where uv should."""
    bad = tmp_path / "uv"
    bad.write_text("")
    monkeypatch.setattr(uvtool, "find", lambda: str(bad))

    with pytest.raises(UnavailableError, match="does not start: Permission denied"):
        uvtool.run(["venv"], what="make it")


def test_uv_has_no_terminal_where_dlprof_has_none(uv: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """And what it says is shown only when asked for."""
    uvtool.run(["venv"], what="x")

    assert called(uv)[2] is False
    assert capfd.readouterr() == ("", "")


def test_on_a_terminal_uv_has_one_of_the_same_size(uv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it shows its progress bars, and dlprof still learns what it says."""
    outer, inner = pty.openpty()
    termios.tcsetwinsize(inner, (40, 123))
    os.set_blocking(outer, False)
    with os.fdopen(outer, "rb", buffering=0) as seen, os.fdopen(inner, "w") as ours:
        monkeypatch.setattr(sys, "stderr", ours)

        uvtool.run(["venv"], what="x", show=True)

        assert seen.read(100) == b"123 x 40"
    assert called(uv)[2] is True


def test_uv_keeps_a_lock_open_that_it_is_given(uv: Path, tmp_path: Path) -> None:
    """So that the lock is not free while uv goes on, even when dlprof is killed."""
    with (tmp_path / "lock").open("w") as lock:
        uvtool.run(["venv"], what="x", holding=(lock.fileno(),))

        assert str(lock.fileno()) in (uv.parent / "open").read_text().split()


def test_uv_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, and the command that installs it."""
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(UnavailableError) as caught:
        uvtool.find()

    assert caught.value.hint == f"{sys.executable} -m pip install uv"
