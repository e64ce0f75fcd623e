"""Files of a folder that may be a stranger's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlprof import safe_files
from dlprof.safe_files import RefusedError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file in a folder; a secret lies outside."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    inner = tmp_path / "root" / "raw"
    inner.mkdir(parents=True)
    (inner / "file").write_text("text")
    return inner.parent


def test_a_regular_file_is_read(root: Path) -> None:
    """By its name from the folder."""
    assert safe_files.read(root, "raw/file") == b"text"
    assert safe_files.is_file(root, "raw/file")


@pytest.mark.parametrize("name", ["/etc/passwd", "../outside/secret", "raw/../../outside/secret", "", "raw/\0"])
def test_a_name_that_leads_out_is_refused(root: Path, name: str) -> None:
    """Also where the file is there."""
    with pytest.raises(RefusedError, match="is no name inside the folder"):
        safe_files.read(root, name)
    assert not safe_files.is_file(root, name)


def test_a_link_is_not_followed(root: Path) -> None:
    """Neither at the end of a name nor in its middle."""
    (root / "raw" / "link").symlink_to(root.parent / "outside" / "secret")
    (root / "folder").symlink_to(root.parent / "outside")

    with pytest.raises(RefusedError, match="raw/link is a link"):
        safe_files.read(root, "raw/link")
    with pytest.raises(RefusedError, match="folder is a link"):
        safe_files.read(root, "folder/secret")
    assert not safe_files.is_file(root, "raw/link")


def test_a_pipe_does_not_hang_the_reader(root: Path) -> None:
    """Nobody will ever write to it."""
    os.mkfifo(root / "pipe")

    with pytest.raises(RefusedError, match="pipe is a pipe"):
        safe_files.read(root, "pipe")


def test_a_file_that_is_too_large_is_refused(root: Path) -> None:
    """It is not read as a whole first."""
    with (root / "giant").open("wb") as out:
        out.truncate(1 << 42)

    with pytest.raises(RefusedError, match="giant is larger than 1 MB"):
        safe_files.read(root, "giant", 1 << 20)


def test_a_file_that_is_written_replaces_a_link(root: Path) -> None:
    """What the link named is as it was."""
    secret = root.parent / "outside" / "secret"
    (root / "raw" / "new").symlink_to(secret)

    safe_files.write(root, "raw/new", b"mine")

    assert secret.read_text() == "secret"
    assert not (root / "raw" / "new").is_symlink()
    assert (root / "raw" / "new").read_bytes() == b"mine"


def test_nothing_is_written_through_a_folder_that_is_a_link(root: Path) -> None:
    """Nor is anything made there."""
    (root / "sources").symlink_to(root.parent / "outside")

    with pytest.raises(RefusedError, match="sources is a link"):
        safe_files.write(root, "sources/deep/file", b"")
    assert [one.name for one in (root.parent / "outside").iterdir()] == ["secret"]


def test_a_file_that_could_not_be_written_leaves_nothing(root: Path) -> None:
    """The one before stays."""
    with pytest.raises(ValueError, match="no"), safe_files.new_file(root / "raw" / "file") as out:
        out.write(b"half")
        raise ValueError("no")

    assert (root / "raw" / "file").read_text() == "text"
    assert len(list((root / "raw").iterdir())) == 1


def test_what_is_no_file_and_no_folder_is_named(root: Path) -> None:
    """The first of them; a folder without such has none."""
    assert safe_files.strange(root, ("raw", "missing")) is None

    (root / "raw" / "deep").mkdir()
    (root / "raw" / "deep" / "x").symlink_to("/dev/zero")
    assert safe_files.strange(root, ("raw",)) == "raw/deep/x is a link"


def test_folders_without_end_are_strange(root: Path) -> None:
    """A walk would fail."""
    here = root / "raw"
    for _ in range(300):
        here = here / "d"
        here.mkdir()

    assert "is a folder in more than 200 others" in (safe_files.strange(root, ("raw",)) or "")


def test_links_have_no_size(root: Path) -> None:
    """Only what lies in the folder counts."""
    (root / "raw" / "link").symlink_to(root.parent / "outside" / "secret")

    assert safe_files.size(root) == 4


def test_what_has_a_name_is_removed_whatever_it_is(root: Path) -> None:
    """A link without what it names, a pipe without waiting, a folder with all in it."""
    (root / "link").symlink_to(root.parent / "outside")
    os.mkfifo(root / "pipe")

    for name in ("link", "pipe", "raw", "missing"):
        safe_files.remove(root / name)

    assert list(root.iterdir()) == []
    assert (root.parent / "outside" / "secret").read_text() == "secret"


def test_a_file_without_ends_of_lines_is_not_read_as_a_line(tmp_path: Path) -> None:
    """A file of zeros may be larger than the memory."""
    (tmp_path / "giant").write_bytes(b"ab\ncd\n" + bytes(40))

    with safe_files.opened(tmp_path, "giant") as file:
        lines = safe_files.lines(file, 10)
        assert [next(lines), next(lines)] == [b"ab\n", b"cd\n"]
        with pytest.raises(RefusedError, match="a line is longer than"):
            next(lines)
