"""Names of tf.data's iterators: the stages around one, `Iterator::Root::Prefetch::Zip[1]::Interleave[7]::TFRecord`.

An index has one of three meanings: the input that is read (`Zip[1]`), the pass over it (`FiniteRepeat[2]`), or, of all
others, the element whose data set a function has made (`Interleave[7]`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

_INDEXED = re.compile(r"(.*)\[(\d{1,9})\]")
_OF_INPUTS = re.compile(r"(?:Zip|Concatenate|ChooseFastest)(?:V\d+)?")
_SELECTING = re.compile(r"DirectedInterleave(?:V\d+)?")
"""Its first input, which has no index, says from which of the others the next element comes."""
_OF_PASSES = re.compile(r"\w*Repeat(?:V\d+)?")
_DEEPEST = 100
"""Stages around one. Names of a hostile trace may have any number, and all their beginnings take its square."""


@dataclass(frozen=True)
class Place:
    """Where an iterator is in its pipeline.

    Attributes:
        path: The stages around it and itself, outermost first: with the numbers of inputs, which are part of where it
            is, without those of passes and elements.
        is_nested: It is, or is in, what a function made.
        input: Which of its parent's inputs it is, from 0, as the program gave them; None: the parent has one.
    """

    path: str
    is_nested: bool
    input: int | None

    @property
    def parent(self) -> str:
        """Path of the stage around it."""
        return _indexed(self.path.rpartition("::")[0])[0]

    @property
    def order(self) -> tuple[tuple[str, int], ...]:
        """By which the inputs of a stage stand as the program gave them: one without an index first."""
        return tuple(_indexed(part) for part in self.path.split("::"))


def place(name: str) -> Place:
    """Where an iterator of that name is."""
    parts = list(_parts(name.split("::")))
    own = parts[-1]
    return Place("::".join([*(part.kept for part in parts[:-1]), own.stage]), own.is_nested, own.input)


def around(name: str) -> list[Place]:
    """The stages around an iterator, outermost first: `Iterator::Root`, `Iterator::Root::Prefetch`; none: too many."""
    texts = name.split("::", _DEEPEST)
    if len(texts) > _DEEPEST:
        return []
    found, kept = [], ""
    for part in _parts(texts[:-1]):
        found.append(Place(kept + part.stage, part.is_nested, part.input))
        kept += f"{part.kept}::"
    return found[1:]  # the first is no stage: `Iterator`


class _Part(NamedTuple):
    """A stage of a name: `is_nested` and `input` as those of `Place`; `kept` has an index if it is that of an input."""

    stage: str
    kept: str
    is_nested: bool
    input: int | None


def _parts(texts: Iterable[str]) -> Iterator[_Part]:
    is_nested, number = False, None
    for text in texts:
        stage, index = _indexed(text)
        before, number = number, _input(stage, index)
        yield _Part(stage, stage if number is None else text, is_nested, before)
        is_nested = is_nested or (index >= 0 and number is None and not _OF_PASSES.fullmatch(stage))


def _input(stage: str, index: int) -> int | None:
    """Number of the input that an index tells, -1: there is none; None: the stage has one input."""
    if _SELECTING.fullmatch(stage):
        return index + 1
    return index if index >= 0 and _OF_INPUTS.fullmatch(stage) else None


def _indexed(text: str) -> tuple[str, int]:
    """A part of a name, or a path, without the index at its end, and that; -1: it has none."""
    found = _INDEXED.fullmatch(text)
    return (found[1], int(found[2])) if found else (text, -1)
