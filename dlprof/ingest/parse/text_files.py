"""Text files of other tools: their lines, and numbers that are checked before they are believed."""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.packed import opened

NS_AT_MOST = 1 << 61
"""Longest time that a file may speak of: sums of two still fit into 64 bits."""
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{0,18})?(?:[eE][+-]?[0-9]{1,2})?")
_WHOLE = re.compile(r"[0-9]{1,18}")


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a text file, packed with gzip or not, with their numbers from 1 and without their ends.

    Bytes that are not UTF-8 become replacement characters.

    Raises:
        ArtifactError: The file is damaged, or a line is too long for a text file.
    """
    number = 0
    try:
        with opened(path) as source:
            longest = budget().limits.text_bytes
            while line := source.readline(longest):
                number += 1
                if len(line) == longest:
                    raise ArtifactError(f"line {number} is longer than {longest >> 20} MB", path=path)
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                yield number, text.removeprefix("\ufeff") if number == 1 else text
    except (OSError, EOFError, zlib.error) as error:
        raise ArtifactError(f"damaged after line {number}: {error}", path=path) from error


def each_line(path: Path, take: Callable[[str], None]) -> None:
    """Give every line of a text file to `take`; a ValueError of it names the line.

    Raises:
        ArtifactError: The file is damaged.
    """
    for number, text in text_lines(path):
        try:
            take(text)
        except KeyError as error:
            raise ArtifactError(f"line {number}: {error} is missing or unknown", path=path) from error
        except (ValueError, csv.Error) as error:
            raise ArtifactError(f"line {number}: {error}", path=path) from error


def number_in(text: str) -> Decimal:
    """The number, exactly as written; a ValueError where it is none, negative or not finite."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not a number that can stand here")
    return Decimal(text)


def whole_in(text: str) -> int:
    """The whole number; a ValueError where it is none, or has more than 18 digits."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not a whole number that can stand here")
    return int(text)


def as_ns(value: Decimal, ns_per_unit: Decimal | int) -> int:
    """A time in nanoseconds; a ValueError where it is absurdly long."""
    ns = value * ns_per_unit
    if ns > NS_AT_MOST:
        raise ValueError(f"{value} is out of range")
    return round(ns)
