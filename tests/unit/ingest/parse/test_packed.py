"""Files that may be packed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.parse.packed import mapped, opened


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
