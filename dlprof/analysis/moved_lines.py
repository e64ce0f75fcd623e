"""Which line of one run's files is which of another's, where functions were renamed, moved or put into a class."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

_ALIKE = 0.6
"""Share of the lines of the longer of two functions that both have, from which on they are one."""
_ALIKE_NAMES = 0.3
"""The same where both have one name, as where a function went to another file."""
_MODULE = "<module>"
_ATTRIBUTE = re.compile(r"\b(self|cls)\.")


class LineKey(NamedTuple):
    """What a line is known by in a run."""

    file: str
    function: str
    text: str
    number: int
    """Among the lines of the function with this text, from 1."""


_Function = tuple[str, str]
"""File and qualified name."""
_Named = Callable[[LineKey], Hashable]


def matches(a: Iterable[LineKey], b: Iterable[LineKey], files: Mapping[str, str]) -> dict[LineKey, LineKey]:
    """B's lines to A's: by file, function and text; then by functions that have other places; then by text alone.

    Args:
        a: Lines of one run.
        b: Of the other.
        files: B's names of files to A's, where they differ.
    """
    left_a, left_b = list(a), list(b)
    found: dict[LineKey, LineKey] = {}

    def join(of_a: _Named, of_b: _Named, *, equally_many: bool = False) -> None:
        ours, theirs = _grouped(left_a, of_a), _grouped(left_b, of_b)
        for name in ours.keys() & theirs.keys():
            if not equally_many or len(ours[name]) == len(theirs[name]):
                found.update(zip(theirs[name], ours[name], strict=False))
        taken = set(found.values())
        left_a[:] = [line for line in left_a if line not in taken]
        left_b[:] = [line for line in left_b if line not in found]

    def placed(line: LineKey) -> LineKey:
        return line._replace(file=files.get(line.file, line.file))

    functions = _moved(left_a, [placed(line) for line in left_b])
    renamed = _renamed(functions)
    join(lambda line: line, placed)
    join(
        lambda line: (line.file, line.function, _plain(line.text)),
        lambda line: (*functions.get(placed(line)[:2], placed(line)[:2]), _as_called(line.text, renamed)),
    )
    join(
        lambda line: _plain(line.text) or line,
        lambda line: _as_called(line.text, renamed) or line,
        equally_many=True,
    )
    return found


def _grouped(lines: Iterable[LineKey], name: _Named) -> dict[Hashable, list[LineKey]]:
    groups: dict[Hashable, list[LineKey]] = defaultdict(list)
    for line in lines:
        groups[name(line)].append(line)
    return groups


def _moved(a: Sequence[LineKey], b: Sequence[LineKey]) -> dict[_Function, _Function]:
    """Functions that only B has to those that only A has, and that are the same line by line for the most part."""
    of_a, of_b = _texts(a), _texts(b)
    gone, new = ([one for one in mine if one not in other] for mine, other in ((of_a, of_b), (of_b, of_a)))
    scored = [(_likeness(one, of_a[one], other, of_b[other]), one, other) for one in gone for other in new]
    found: dict[_Function, _Function] = {}
    for share, one, other in sorted(scored, key=lambda row: (-row[0], row[1:])):
        if share and other not in found and one not in found.values():
            found[other] = one
    return found


def _texts(lines: Iterable[LineKey]) -> dict[_Function, Counter[str]]:
    """The texts of each function, without the line that names it."""
    texts: dict[_Function, Counter[str]] = {}
    for line in lines:
        if line.function != _MODULE:
            own = texts.setdefault((line.file, line.function), Counter())
            if line.text and not line.text.startswith(("def ", "async def ")):
                own[_plain(line.text)] += 1
    return texts


def _likeness(one: _Function, texts: Counter[str], other: _Function, others: Counter[str]) -> float:
    """Share of the lines that both have; one of the same name goes first. 0: they are not the same function."""
    share = (texts & others).total() / max(1, texts.total(), others.total())
    is_called_so = _bare(one) == _bare(other)
    return share + is_called_so if share >= (_ALIKE_NAMES if is_called_so else _ALIKE) else 0.0


def _bare(function: _Function) -> str:
    return function[1].rpartition(".")[2]


def _renamed(functions: Mapping[_Function, _Function]) -> dict[str, str]:
    """B's names of functions to A's, where they have others."""
    return {_bare(theirs): _bare(ours) for theirs, ours in functions.items() if _bare(theirs) != _bare(ours)}


def _plain(text: str) -> str:
    """A line as it would be outside of a class."""
    return _ATTRIBUTE.sub("", text)


def _as_called(text: str, renamed: Mapping[str, str]) -> str:
    """The same with the functions that it calls by A's names; methods of other objects keep theirs."""
    if not renamed:
        return _plain(text)
    names = "|".join(re.escape(name) for name in renamed)
    return re.sub(rf"(?<![\w.])({names})\b", lambda found: renamed[found.group()], _plain(text))
