"""Managed environments, made for real but small: made once, by one at a time, again after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from dlprof.backends.base import BackendSpec
from dlprof.errors import DlprofError, UnavailableError
from dlprof.launch import environments
from tests.integration import runner

pytestmark = pytest.mark.integration

SIX = "six==1.17.0 --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274\n"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BackendSpec:
    """A backend with one small package."""
    monkeypatch.setenv("DLPROF_DATA", str(tmp_path / "data"))
    lock = tmp_path / "six.txt"
    lock.write_text(SIX)
    return BackendSpec("small", "small", lock, ">=3.11", "none")


def test_an_environment_is_made_once(spec: BackendSpec) -> None:
    """The second call finds it and says nothing."""
    said: list[str] = []
    first = environments.ensure(spec, report=said.append)
    lines = len(said)

    second = environments.ensure(spec, report=said.append)

    assert first == second
    assert lines == len(said) == 2
    subprocess.run([str(first.python), "-c", "import six"], check=True)


def test_another_lock_is_another_environment(spec: BackendSpec, tmp_path: Path) -> None:
    """The digest in its name changes, the old one stays as it is."""
    other = tmp_path / "other.txt"
    other.write_text(SIX + "# changed\n")

    first = environments.ensure(spec, report=print)
    second = environments.ensure(replace(spec, lock=other), report=print)

    assert first.path != second.path
    assert first.python.exists()


def test_a_wrong_hash_is_refused_and_leaves_nothing(spec: BackendSpec, tmp_path: Path) -> None:
    """One sentence; no half-made environment stays."""
    bad = tmp_path / "bad.txt"
    bad.write_text(SIX.replace("4721", "0000"))

    with pytest.raises(UnavailableError, match="hash mismatch"):
        environments.ensure(replace(spec, lock=bad), report=print)

    assert not list((tmp_path / "data" / "environments").glob("small-*[!k]"))


def test_an_index_that_cannot_be_reached_is_named_as_the_reason(
    spec: BackendSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Pip's own index setting is honoured: here it leads nowhere."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)

    with pytest.raises(DlprofError) as caught:
        environments.ensure(spec, report=print)

    assert caught.value.message == "Cannot install the backend small: the package index cannot be reached."


def test_no_interpreter_is_one_sentence_with_the_way_out(spec: BackendSpec) -> None:
    """And what to type."""
    with pytest.raises(UnavailableError, match="No Python >=4.0 was found") as caught:
        environments.ensure(replace(spec, python=">=4.0"), report=print)

    assert "DLPROF_PYTHONS" in str(caught.value.hint)


MAKER = """
import sys
from pathlib import Path
from dlprof.backends.base import BackendSpec
from dlprof.launch import environments
from tests.integration import runner
spec = BackendSpec("small", "small", Path(sys.argv[1]), ">=3.11", "none")
print(environments.ensure(spec, report=lambda line: print(line, flush=True)).path, flush=True)
"""


def test_two_at_once_make_it_once(spec: BackendSpec) -> None:
    """One makes it, the other waits and takes it."""
    command = [sys.executable, "-c", MAKER, str(spec.lock)]
    makers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [maker.communicate(timeout=120)[0] for maker in makers]

    assert [maker.returncode for maker in makers] == [0, 0]
    assert sum("making its environment" in text for text in said) == 1
    assert said[0].splitlines()[-1] == said[1].splitlines()[-1]


def test_one_that_was_killed_half_way_is_made_again(spec: BackendSpec, tmp_path: Path) -> None:
    """Kill -9 while it is made: the next call makes it whole."""
    maker = subprocess.Popen(
        [sys.executable, "-c", MAKER, str(spec.lock)], stdout=subprocess.PIPE, start_new_session=True
    )
    folder = tmp_path / "data" / "environments"
    end = time.monotonic() + 60
    while not list(folder.glob("small-*/pyvenv.cfg")) and time.monotonic() < end:
        time.sleep(0.005)
    os.killpg(maker.pid, signal.SIGKILL)
    maker.communicate()

    made = environments.ensure(spec, report=print)

    subprocess.run([str(made.python), "-c", "import six"], check=True)


def test_uv_does_not_outlive_a_dlprof_that_is_killed(spec: BackendSpec, tmp_path: Path) -> None:
    """Kill -9 of dlprof alone: nothing goes on writing into what the next run makes."""
    slow = tmp_path / "uv"
    slow.write_text("#!/bin/sh\necho $$ > $0.pid.part && mv $0.pid.part $0.pid\nexec sleep 1000\n")
    slow.chmod(0o755)
    patched = MAKER.replace("spec =", f"from dlprof.launch import uvtool\nuvtool.find = lambda: {str(slow)!r}\nspec =")
    maker = subprocess.Popen([sys.executable, "-c", patched, str(spec.lock)], stdout=subprocess.PIPE)
    while not (tmp_path / "uv.pid").exists():
        assert maker.poll() is None
        time.sleep(0.005)
    uv = psutil.Process(int((tmp_path / "uv.pid").read_text()))

    maker.kill()
    maker.communicate()

    assert runner.all_gone([uv])
    made = environments.ensure(spec, report=print)
    subprocess.run([str(made.python), "-c", "import six"], check=True)


def test_no_index_of_pip_keeps_dlprof_off_the_network(
    spec: BackendSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whoever forbids indexes to pip means it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)

    with pytest.raises(UnavailableError) as caught:
        environments.ensure(spec, report=print)

    assert caught.value.message == (
        "Cannot install the backend small: pip is set to use no index, and its find-links lack a package."
    )


def test_files_that_are_added_are_compiled_at_once(spec: BackendSpec, tmp_path: Path) -> None:
    """A shim runs at each start; where Python may write no bytecode it would be compiled each time."""
    shim, path = tmp_path / "small_shim.py", tmp_path / "small_shim.pth"
    shim.write_text("there = True\n")
    path.write_text("import small_shim\n")

    made = environments.ensure(replace(spec, site_files=(shim, path)), report=print)

    ask = "import sys, os; m = sys.modules['small_shim']; print(m.there, os.path.exists(m.__cached__))"
    done = subprocess.run([str(made.python), "-B", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"
