"""Files that may be packed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dlprof.ingest import limits
from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.limits import LimitError, Limits
from dlprof.ingest.parse.packed import mapped, opened, whole


@pytest.mark.parametrize("content", [b"abc", gzip.compress(b"abc", mtime=0)])
def test_a_file_is_read_and_mapped_unpacked(tmp_path: Path, content: bytes) -> None:
    """Told by its first bytes."""
    path = tmp_path / "file"
    path.write_bytes(content)

    with opened(path) as source:
        assert source.read() == b"abc"
    with mapped(path) as data:
        assert data[:] == b"abc"


@pytest.mark.parametrize(("content", "message"), [(b"", "empty"), (gzip.compress(b"abc", mtime=0)[:-9], "damaged")])
def test_a_file_that_cannot_be_mapped_is_an_error_of_readers(tmp_path: Path, content: bytes, message: str) -> None:
    """Empty, or packed and cut."""
    path = tmp_path / "file"
    path.write_bytes(content)

    with pytest.raises(ArtifactError, match=message), mapped(path):
        pass


@pytest.mark.slow
def test_what_a_packed_file_unpacks_to_is_counted_while_it_is_read(tmp_path: Path) -> None:
    """Of one that may unpack to 512 MiB no more is read."""
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b"\0" * (1 << 20), mtime=0) * 520)

    with limits.applied(Limits.of_memory(64 << 20), path), opened(path) as source:
        for _ in range(512):
            assert len(source.read(1 << 20)) == 1 << 20
        with pytest.raises(LimitError, match="larger than 512 MiB"):
            source.read(1 << 20)


def test_a_packed_file_is_mapped_up_to_the_memory_that_may_be_taken(tmp_path: Path) -> None:
    """The folder for temporary files may be in memory."""
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b"\0" * (1 << 20), mtime=0) * 65)

    told = pytest.raises(LimitError, match="larger than 64 MiB")
    with limits.applied(Limits.of_memory(64 << 20), path), told, mapped(path):
        pass


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_that_is_decoded_at_once_is_read_up_to_an_eighth_of_the_memory(tmp_path: Path, packed: bool) -> None:
    """Its objects take several times as much."""
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b"\0" * (9 << 20), mtime=0) if packed else b"\0" * (9 << 20))

    with limits.applied(Limits.of_memory(64 << 20), path), pytest.raises(LimitError, match="more than 8 MiB"):
        whole(path)
    with limits.applied(Limits.of_memory(80 << 20), path):
        assert len(whole(path)) == 9 << 20
