"""Reads the sampler's raw files: JSON lines with a header and, if all went well, a trailer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dlprof import safe_files
from dlprof.ingest.artifact import ArtifactError, Health, NothingRecordedError


class Lines:
    """A raw file of the sampler; its rows are read when they are asked for, and none is kept.

    Attributes:
        header: First line.
        count: Rows that were read.
        trailer: Last line, known when all rows were read; None when the file was cut.
    """

    def __init__(self, path: Path, header: dict[str, Any], rest: Iterator[Any]) -> None:
        self.header = header
        self.count = 0
        self.trailer: dict[str, Any] | None = None
        self._path = path
        self._rest = rest

    def __iter__(self) -> Iterator[list[Any]]:
        for value in self._rest:
            if isinstance(value, dict) and value.get("end"):
                self.trailer = value
            elif isinstance(value, list):
                self.count += 1
                yield value

    def health(self, what: str) -> list[Health]:
        """What the user must know of its rows, which were read; that it was cut is told as the end of its probe.

        Args:
            what: What is in it, for the sentence.
        """
        if self.trailer is None:
            return []
        missed = self.trailer.get("missed") or 0
        if isinstance(missed, int) and missed > 0.1 * (self.count + missed):
            text = f"{missed} samples of {what} were left out because the machine was busy."
            return [Health(f"{self._path.stem}-missed", "info", text, missed)]
        return []


def read(path: Path, format_name: str) -> Lines:
    """A file with its header; a damaged or cut end will be left out.

    Raises:
        NothingRecordedError: The file is empty, or its first line was cut.
        ArtifactError: It is of another format, or of a newer version.
    """
    lines = _parsed(path)
    header = next(lines, None)
    if header is None and not _has_a_line(path):
        raise NothingRecordedError("it holds nothing", path=path)
    name, _, version = format_name.partition("/")
    found, _, found_version = str(header.get("format", "") if isinstance(header, dict) else "").partition("/")
    if found != name or not found_version.isdigit():
        raise ArtifactError(f"not a file of format {name}", path=path, offset=0)
    if int(found_version) > int(version):
        raise ArtifactError(f"version {found_version} is newer than this dlprof", path=path, offset=0)
    assert isinstance(header, dict)  # noqa: S101
    return Lines(path, header, lines)


def _has_a_line(path: Path) -> bool:
    with safe_files.opened(path.parent, path.name) as source:
        return source.readline(safe_files.LINE_MOST).endswith(b"\n")


def _parsed(path: Path) -> Iterator[Any]:
    with safe_files.opened(path.parent, path.name) as source:
        try:
            for line in safe_files.lines(source):
                yield json.loads(line)
        except (ValueError, safe_files.RefusedError):
            return  # the cut
