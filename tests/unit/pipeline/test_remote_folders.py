"""Folders that lie on other machines, or in object stores."""

from __future__ import annotations

import io
import shutil
import stat
import sys
import types
from pathlib import Path

import pytest

from dlprof.errors import BadDataError, NoInputError, UnavailableError
from dlprof.pipeline import remote_folders

SCP = """#!/bin/sh
echo "$@" >> "{log}"
for last; do :; done
from=$(eval echo "\\${{$(($# - 1))}}")
[ "${{from#*:}}" = /none/. ] && {{ echo "scp: /none: No such file or directory" >&2; exit 1; }}
cp -r "${{from#*:}}" "$last"
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with an scp that copies from this machine; returns where it writes down what it was given."""
    tool = tmp_path / "bin" / "scp"
    tool.parent.mkdir()
    tool.write_text(SCP.format(log=tmp_path / "log"))
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    monkeypatch.setattr(shutil, "which", lambda name: str(tool) if name == "scp" else None)
    return tmp_path / "log"


@pytest.mark.parametrize(
    ("source", "elsewhere"),
    [
        ("node1:/tmp/ddp", True),
        ("me@node1.lan:ddp", True),
        ("[fe80::1]:/tmp/ddp", True),
        ("s3://bucket/ddp", True),
        ("file:///tmp/ddp", False),
        ("runs/ddp", False),
        ("/tmp/a:b", False),
        ("-oProxyCommand=x:/tmp", False),
    ],
)
def test_what_lies_elsewhere_is_told_by_its_form(source: str, elsewhere: bool) -> None:
    """An option for ssh is no host."""
    assert remote_folders.is_elsewhere(source) is elsewhere


def test_a_folder_that_is_here_is_meant_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its name has a colon."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b").mkdir()
    assert not remote_folders.is_elsewhere("a:b")


def test_the_content_of_a_folder_comes_over_ssh(tmp_path: Path, tools: Path) -> None:
    """A second attempt puts it into the same place, and no option can be smuggled in."""
    (tmp_path / "there/rank-000").mkdir(parents=True)
    (tmp_path / "there/rank-000/manifest.json").write_text("1")
    for _ in range(2):
        remote_folders.fetch(f"node1:{tmp_path}/there/", tmp_path / "here")
    assert (tmp_path / "here/rank-000/manifest.json").read_text() == "1"
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["rank-000"]
    assert f"-- node1:{tmp_path}/there/. {tmp_path}/here" in tools.read_text()


@pytest.mark.usefixtures("tools")
def test_a_copy_that_fails_says_why(tmp_path: Path) -> None:
    """In the first words of what copied."""
    with pytest.raises(UnavailableError, match="node1:/none cannot be fetched: scp: /none: No such file"):
        remote_folders.fetch("node1:/none", tmp_path / "here")


def test_without_a_tool_it_is_said_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what to do."""
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(UnavailableError, match="neither rsync nor scp is here"):
        remote_folders.fetch("node1:/x", tmp_path / "here")


class Store:
    """What fsspec gives for a store, of files in memory."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.opened: list[str] = []

    def find(self, root: str, *, detail: bool) -> dict[str, dict[str, int]]:
        """Names below, with their sizes."""
        assert detail
        return {name: {"size": len(text)} for name, text in self.files.items() if name.startswith(root)}

    def open(self, name: str, _mode: str) -> io.BytesIO:
        """One of them."""
        self.opened.append(name)
        return io.BytesIO(self.files[name])


def stored(monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]) -> Store:
    """An fsspec whose stores hold these files."""
    store = Store(files)
    core = types.ModuleType("fsspec.core")
    core.url_to_fs = lambda url: (store, url.partition("://")[2])  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fsspec", types.ModuleType("fsspec"))
    monkeypatch.setitem(sys.modules, "fsspec.core", core)
    return store


def test_files_come_from_an_object_store_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for what nothing is read from; those that are whole are not fetched again."""
    store = stored(monkeypatch, {"b/ddp/rank-000/raw/x": b"12", "b/ddp/rank-000/payload/code.py": b"1"})
    for _ in range(2):
        remote_folders.fetch("s3://b/ddp", tmp_path / "here")
    assert (tmp_path / "here/rank-000/raw/x").read_bytes() == b"12"
    assert store.opened == ["b/ddp/rank-000/raw/x"]


def test_a_name_that_leads_out_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object may be called anything; nothing is written then."""
    stored(monkeypatch, {"b/ddp/../../evil": b"1"})
    with pytest.raises(BadDataError, match="no name inside the folder"):
        remote_folders.fetch("s3://b/ddp", tmp_path / "here")
    assert not list(tmp_path.rglob("evil"))


def test_an_empty_place_is_said_to_be_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be misspelt."""
    stored(monkeypatch, {})
    with pytest.raises(NoInputError, match="There is nothing at s3://b/none"):
        remote_folders.fetch("s3://b/none", tmp_path / "here")


def test_without_fsspec_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(UnavailableError, match="fsspec is not installed") as error:
        remote_folders.fetch("s3://b/ddp", tmp_path / "here")
    assert error.value.hint == "pip install 'dlprof[remote]'"
