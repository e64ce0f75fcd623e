"""Files that tracers write at paths that they may not take."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from dlprof_probes.inproc.kernels import trace_files


@pytest.mark.parametrize("name", ["new\nline", 'quo"te', "it's", "back\\slash", "ünï", "tab\t"])
def test_a_tracer_gets_a_plain_path_of_the_same_file(tmp_path: Path, name: str) -> None:
    """What it writes there, and renames, lies in the folder."""
    folder = tmp_path / name
    folder.mkdir()
    with trace_files.SafePath(str(folder / "trace.json")) as path:
        Path(path + ".tmp").write_text("{}")
        os.rename(path + ".tmp", path)

    assert path == f"/proc/self/fd/{int(path.split('/')[4])}/trace.json"
    assert (folder / "trace.json").read_text() == "{}"


def test_a_path_of_plain_letters_stays_as_it_is() -> None:
    """No descriptor is needed."""
    with trace_files.SafePath("/a folder/run-1/trace.json") as path:
        assert path == "/a folder/run-1/trace.json"


def test_the_descriptor_of_the_folder_is_closed(tmp_path: Path) -> None:
    """The program counts its own."""
    before = os.listdir("/proc/self/fd")
    with trace_files.SafePath(str(tmp_path / "a\nb.json")):
        pass

    assert len(os.listdir("/proc/self/fd")) == len(before)


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]\n"])
def test_a_whole_file_is_no_error(tmp_path: Path, text: str) -> None:
    """An object, or a list with a line feed behind it."""
    (tmp_path / "trace.json").write_text(text)

    trace_files.check_json(str(tmp_path / "trace.json"))


@pytest.mark.parametrize("text", ['{"a": ', ""])
def test_a_file_that_was_cut_is_told(tmp_path: Path, text: str) -> None:
    """Also an empty one."""
    (tmp_path / "trace.json").write_text(text)

    with pytest.raises(RuntimeError, match="the tracer's file is not whole: it does not say why"):
        trace_files.check_json(str(tmp_path / "trace.json"))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """It was not named."""
    with pytest.raises(RuntimeError, match="the tracer wrote no file: it does not say why"):
        trace_files.check_json(str(tmp_path / "trace.json"))


def test_a_limit_on_the_size_of_files_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kineto itself only stops writing."""
    (tmp_path / "trace.json").write_text('{"a": ')
    monkeypatch.setattr(trace_files, "getrlimit", lambda _which: (50_000, resource.RLIM_INFINITY))

    with pytest.raises(RuntimeError, match=r"not whole: the limit on the size of files is 50000 bytes \(ulimit -f\)"):
        trace_files.check_json(str(tmp_path / "trace.json"))
