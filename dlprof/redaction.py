"""What of a run tells where and by whom it was made, and the texts without it: pure functions on texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Part(StrEnum):
    """A part of a run that is not for everybody."""

    PATHS = "paths"
    """Folders; names of files stay."""
    HOST = "host"
    """Names of machines, and serial numbers of GPUs."""
    USER = "user"
    """Names of users, as home folders tell them."""
    SOURCE = "source"
    """Text of the script and of the files beside it."""
    ARGUMENTS = "arguments"
    """Command lines, of the script and of the processes that it started."""


HIDDEN = "***"
_START = r"(?:^|(?<=[\s'\"(=:,;\[]))"
_LETTER = r"[^/\\\s'\":,;()\[\]]"
_FOLDERS = re.compile(rf"{_START}(?:~|[A-Za-z]:)?(?:[/\\]{_LETTER}+)+(?P<name>[/\\]{_LETTER}*)")
_HOME = re.compile(rf"{_START}(?:[A-Za-z]:)?[/\\](?:home|Users)[/\\](?P<user>{_LETTER}+)")
_COMMON = frozenset({"root", "user", "users", "admin", "shared", "public"})
"""Names of users that name nobody."""
_SHORTEST = 3
"""A shorter name is replaced only where it is surely one: it may be part of any text."""


def users_in(texts: Iterable[str]) -> frozenset[str]:
    """Names of users, as the home folders in these texts tell them."""
    return frozenset(found["user"] for text in texts for found in _HOME.finditer(text)) - _COMMON


@dataclass(frozen=True)
class Redactor:
    """Takes names and folders out of texts.

    Attributes:
        names: What is taken out, as a whole word, to what stands there instead.
        paths: Whether folders are taken out of paths.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    paths: bool = True

    @classmethod
    def of(cls, hosts: Iterable[str], users: Iterable[str], *, paths: bool) -> Redactor:
        """One that takes out these hosts and users; several are numbered, so that they stay apart."""
        return cls({**_stand_ins("host", hosts), **_stand_ins("user", users)}, paths)

    def name(self, told: str) -> str:
        """A text without the names."""
        if told in self.names:
            return self.names[told]
        for word, instead in self.names.items():
            told = _whole(word).sub(instead, told)
        return told

    def text(self, told: str) -> str:
        """A text without the names, and without folders."""
        return self.name(_FOLDERS.sub(r"…\g<name>", told) if self.paths else told)

    def left_in(self, told: str) -> list[str]:
        """Names that are still in a text."""
        return [word for word in self.names if told == word or _whole(word).search(told)]


def _stand_ins(kind: str, names: Iterable[str]) -> dict[str, str]:
    known = sorted({name for name in names if name and name not in _COMMON}, key=lambda name: (-len(name), name))
    if len(known) == 1:
        return {known[0]: kind}
    return {name: f"{kind}-{number}" for number, name in enumerate(known, 1)}


def _whole(word: str) -> re.Pattern[str]:
    if len(word) < _SHORTEST:
        return re.compile(rf"(?<=[/\\]){re.escape(word)}(?=[/\\@]|$)")
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
