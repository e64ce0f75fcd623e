"""Standard output and standard error of the command: no text can steer the terminal that shows it.

Names, messages and paths come from scripts, traces and run folders of strangers. Whatever is printed passes here, so
no command has to think of it. Styles of our own are made by rich of texts that are safe already; they go to the stream
behind (`trusted`).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

from dlprof.units import safe


class SafeStream:
    """A text stream that shows control characters, and those that turn the direction of text, as a sign.

    Args:
        trusted: The stream behind it.
    """

    def __init__(self, trusted: TextIO) -> None:
        self.trusted = trusted

    def write(self, text: str) -> int:
        """Write a text; line ends and tabs are what they are."""
        self.trusted.write(safe_lines(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.trusted, name)


def safe_lines(text: str) -> str:
    """A text of several lines, each safe to be shown."""
    if text.replace("\n", "").isprintable():
        return text
    return "\n".join(_safe_line(line) for line in text.split("\n"))


def _safe_line(line: str) -> str:
    end = "\r" if line.endswith("\r") else ""
    return "\t".join(map(safe, line.removesuffix("\r").split("\t"))) + end


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Have all that is printed meanwhile be safe."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", SafeStream(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def trusted(file: TextIO) -> TextIO:
    """The stream behind a safe one: for what is safe already, and has styles of our own."""
    return file.trusted if isinstance(file, SafeStream) else file
