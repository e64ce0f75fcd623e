"""Opens files that may be packed."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO, cast

_GZIP = b"\x1f\x8b"


def opened(path: Path) -> IO[bytes]:
    """The file, unpacked if it is packed with gzip; told by its first bytes, not by its name."""
    with path.open("rb") as source:
        packed = source.read(2) == _GZIP
    return cast("IO[bytes]", gzip.open(path, "rb")) if packed else path.open("rb")
