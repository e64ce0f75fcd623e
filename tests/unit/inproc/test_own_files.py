"""Our own files: what the program does with descriptors never sends our bytes elsewhere."""

from __future__ import annotations

import collections
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from dlprof_probes.inproc import own_files
from dlprof_probes.inproc.own_files import LostFileError, OwnFile


@pytest.fixture
def file(tmp_path: Path) -> OwnFile:
    """An empty file of ours."""
    return OwnFile(str(tmp_path / "ours"))


def test_descriptors_are_where_few_look(file: OwnFile) -> None:
    """At the upper end of what select() takes, or of the limit; and not inherited."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    assert file._fd >= min(soft, 1024) - 24
    assert not os.get_inheritable(file._fd)


def test_where_the_limit_is_small_a_descriptor_stays_below_it(tmp_path: Path) -> None:
    """At its upper end; in a process of its own, as one that runs many tests may have more than 64 open."""
    code = (
        "import resource; from dlprof_probes.inproc.own_files import OwnFile\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "print(OwnFile('ours')._fd)"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert 40 <= int(found.stdout) < 64


def test_without_a_free_number_above_the_first_one_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is written all the same."""

    def full(*_args: object) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(own_files, "_fcntl", full)
    file = OwnFile(str(tmp_path / "ours"))
    file.write(b"a")

    assert (tmp_path / "ours").read_bytes() == b"a"


def test_a_descriptor_that_the_program_closed_is_opened_again(file: OwnFile, tmp_path: Path) -> None:
    """By the path, at the end."""
    file.write(b"one")
    os.close(file._fd)
    file.write(b"two")

    assert (tmp_path / "ours").read_bytes() == b"onetwo"


def test_a_number_that_is_a_file_of_the_program_s_now_is_left_alone(file: OwnFile, tmp_path: Path) -> None:
    """Its content is its own; ours goes into ours."""
    file.write(b"one")
    theirs = os.open(tmp_path / "theirs", os.O_WRONLY | os.O_CREAT)
    os.dup2(theirs, file._fd)
    number = file._fd

    file.write(b"two")
    file.close()

    assert (tmp_path / "theirs").read_bytes() == b""
    assert (tmp_path / "ours").read_bytes() == b"onetwo"
    os.write(number, b"still open")
    assert (tmp_path / "theirs").read_bytes() == b"still open"


def test_closing_leaves_a_number_of_the_program_s_alone(file: OwnFile, tmp_path: Path) -> None:
    """Nothing was written since it took it."""
    theirs = os.open(tmp_path / "theirs", os.O_WRONLY | os.O_CREAT)
    os.dup2(theirs, file._fd)

    file.close()

    assert os.write(file._fd, b"x") == 1


@pytest.mark.parametrize("instead", [None, "file", "link"])
def test_a_file_that_is_no_longer_at_its_path_is_lost(file: OwnFile, tmp_path: Path, instead: str | None) -> None:
    """What lies there instead is not touched."""
    os.close(file._fd)
    (tmp_path / "ours").rename(tmp_path / "elsewhere")
    (tmp_path / "theirs").write_bytes(b"theirs")
    if instead == "file":
        (tmp_path / "theirs").rename(tmp_path / "ours")
    elif instead == "link":
        (tmp_path / "ours").symlink_to("elsewhere")

    with pytest.raises(LostFileError, match="the program closed it"):
        file.write(b"two")

    assert (tmp_path / "elsewhere").read_bytes() == b""


def test_a_file_that_was_cut_is_lost(file: OwnFile, tmp_path: Path) -> None:
    """Nothing is put behind what is left of it."""
    file.write(b"one")
    os.truncate(tmp_path / "ours", 1)

    with pytest.raises(LostFileError, match="has cut it"):
        file.write(b"two")


def test_what_an_interrupted_write_left_is_written_once(
    file: OwnFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes right after the operating system took the first bytes."""
    real = os.write

    def interrupted(fd: int, data: bytes) -> int:
        real(fd, data[:2])
        raise KeyboardInterrupt

    monkeypatch.setattr(own_files, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        file.write_all(collections.deque([b"abc", b"def"]))
    monkeypatch.setattr(own_files, "write", real)

    file.write(b"ghi")

    assert (tmp_path / "ours").read_bytes() == b"abcdefghi"
    assert file.size == 9


def test_a_queue_is_empty_afterwards(file: OwnFile, tmp_path: Path) -> None:
    """All of it is in the file."""
    queue = collections.deque([b"a", b"b"])
    file.write_all(queue)
    file.write_all(queue)

    assert not queue
    assert (tmp_path / "ours").read_bytes() == b"ab"


def test_a_stream_is_not_begun_in_a_file_that_is_there(tmp_path: Path) -> None:
    """It is another process's."""
    (tmp_path / "ours").touch()

    with pytest.raises(FileExistsError):
        OwnFile(str(tmp_path / "ours"))


def test_what_is_saved_again_replaces_what_was_there(tmp_path: Path) -> None:
    """As a whole, and without a part of it left behind."""
    for data in (b"long content", b"short"):
        own_files.save_whole(str(tmp_path / "lines.json"), data)

    assert (tmp_path / "lines.json").read_bytes() == b"short"
    assert os.listdir(tmp_path) == ["lines.json"]


def test_nothing_is_saved_through_a_link(tmp_path: Path) -> None:
    """The file that it leads to is somebody's."""
    (tmp_path / "theirs").write_bytes(b"theirs")
    (tmp_path / "ours").symlink_to("theirs")

    with pytest.raises(OSError, match="symbolic links"):
        own_files.save(str(tmp_path / "ours"), b"ours")

    assert (tmp_path / "theirs").read_bytes() == b"theirs"


def test_last_words_take_space_that_was_reserved(tmp_path: Path) -> None:
    """The file keeps its size, which a full disk could not enlarge."""
    (tmp_path / "status").write_bytes(b" " * 8)

    own_files.overwrite(str(tmp_path / "status"), b"why")

    assert (tmp_path / "status").read_bytes() == b"why     "


def test_a_umask_that_forbids_all_leaves_our_files_to_their_owner(tmp_path: Path) -> None:
    """Who reads them afterwards need not be root."""
    before = os.umask(0o777)
    try:
        own_files.save_whole(str(tmp_path / "lines.json"), b"counts")
    finally:
        os.umask(before)

    assert (tmp_path / "lines.json").stat().st_mode & 0o777 == 0o600
