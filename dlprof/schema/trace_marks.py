"""What ranges of a foreign trace say of its steps and epochs, and of waiting for data, by their names.

Only names that people and frameworks give to whole steps count (`ProfilerStep#7`, `train_step`, `iteration 12`): what
no range says is not guessed from the work that ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from dlprof.schema.vocabulary import EventKind, Loop


class MarkSort(IntEnum):
    """What a range marks; of several ways to know the steps the first that is there counts."""

    NUMBERED_STEP = 0
    """A step, with its number: `ProfilerStep#7`, `iteration 12`."""
    STEP = 1
    """A step without a number: `train_step`."""
    PROGRAM = 2
    """An execution of a compiled program, on the line of a device that shows nothing else."""
    OPTIMISER = 3
    """The end of a step: the optimiser updates the weights."""
    EPOCH = 4
    INPUT = 5
    """The program waits for its next batch, or makes it."""
    COLLECTIVE = 6
    """A thread of the host exchanges values with other processes: `gloo:all_reduce`."""


HOW = {
    MarkSort.NUMBERED_STEP: "ranges that number the steps",
    MarkSort.STEP: "ranges that are named after steps",
    MarkSort.PROGRAM: "executions of the compiled program that took most of the time",
    MarkSort.OPTIMISER: "from the end of one update by the optimiser to the end of the next",
}
"""How steps were told, for people."""
SEVERAL_UPDATES = "from the end of the last update by the optimisers of one iteration to that of the next"
"""How they were told where several optimisers of one class share an iteration."""
EXPORTED = "exported by dlprof from the run "
"""How the label of a process begins in a trace that dlprof made of a run."""
EVALUATION = "the evaluation in front of them"
"""What steps may be without, where all between two updates is one."""

_WHOSE = (
    r"(?P<whose>(?:profile[rd]|train(?:ing)?|global|mini|eval(?:uation)?|val(?:id(?:ation)?)?|test|infer(?:ence)?"
    r"|predict(?:ion)?)[ _-]?)?"
)
_NUMBER = r"[ _:#=-]*[\[(]?(?P<number>\d{1,8})[\])]?"
_NUMBERED = re.compile(rf"(?:{_WHOSE}(?:step|iter(?:ation)?|batch)|(?P<alone>train(?:ing)?)){_NUMBER}", re.IGNORECASE)
_CALLED = re.compile(r"step (?P<number>\d{1,8}) \((?P<stem>.{1,4000})\)", re.DOTALL)
_NAMED = re.compile(rf"{_WHOSE}(?:batch[ _-]?)?(?:step|iteration)(?:[ _-]?fn)?|train[ _-]?batch", re.IGNORECASE)
_EPOCH = re.compile(rf"{_WHOSE}epoch{_NUMBER}", re.IGNORECASE)
_OPTIMISER = re.compile(r"Optimizer\.step#.*")
_INPUT = re.compile(
    r"enumerate\(DataLoader\)#.*|(?:data|batch)[ _-]?load(?:er|ing)?(?:[ _.-]*(?:next|wait(?:ing)?))?"
    r"|(?:load|fetch|get|read)[ _-]?(?:next[ _-]?)?(?:data|batch|inputs?)|next[ _-]?batch"
    r"|(?:data|batch|input)[ _-]?wait(?:ing)?|data|(?:data[ _-]?(?:set|loader)|loader)(?:\.|::|[ _])_*next"
    r"|input[ _-]?pipeline|(?:\[[^\[\]]{1,80}\]\.?)*(?:train|val|test|predict)_dataloader_next",
    re.IGNORECASE,
)
"""Names are compared without underscores around them: `dataset.__next`."""
_COLLECTIVE = re.compile(r"(?:gloo|mpi|ucc|ccl|oneccl):\w+")
_PURPOSES = {
    "train": Loop.TRAIN,
    "eval": Loop.TEST,
    "val": Loop.TEST,
    "test": Loop.TEST,
    "infer": Loop.PREDICT,
    "predict": Loop.PREDICT,
}
_PROGRAM_RUN = re.compile(r"\(\d+\)$")
STEP_LINE, PROGRAM_LINE = "Steps", "XLA Modules"
"""Lines of a device that show its steps, and the programs that it executed, one after another."""


_FUNCTION = re.compile(r"\([^()]{1,4000}\.pyx?:\d{1,9}\)$")


_OF_PROFILER = re.compile(r"ProfilerStep#\d+|PyTorch Profiler.*")
_LIBRARY = re.compile(
    r"<|nn\.Module: |(torch|numpy|tensorflow|jax|keras|triton)[/.]"
    r"|.*[/\\](site-packages|dist-packages|lib/python[\d.]+)[/\\]"
    r"|(threading|contextlib|functools|typing|inspect|copy|re|os|random|runpy|selectors|socket|ssl|subprocess|pickle)\.py\("
    r"|(importlib|multiprocessing|concurrent|asyncio|json|urllib|http|logging)[/\\]"
)


def is_of_profiler(name: str) -> bool:
    """Whether a range is around whole steps, or a profiler's own: that it is open does not say what the host does."""
    return _OF_PROFILER.fullmatch(name) is not None


def is_of_library(name: str) -> bool:
    """Whether a function of Python is of a framework or the standard library, as traces name it: not the user's."""
    return _LIBRARY.match(name) is not None


def is_function(name: str) -> bool:
    """Whether a name is that of a function of Python with its place behind: `step (train.py:12)`."""
    return _FUNCTION.search(name) is not None


@dataclass(frozen=True)
class Mark:
    """What the ranges of one name mark.

    Attributes:
        sort: What they mark.
        stem: Their name without its number: ranges of one stem belong together.
        number: The number in it; None: there is none.
        loop: What the steps are for, where the name says it.
    """

    sort: MarkSort
    stem: str
    number: int | None = None
    loop: Loop | None = None


def step_called(text: str, number: int | str) -> str:
    """The name of a range that its maker calls a step with a number, where its own name does not say so."""
    return f"step {number} ({text})"


def of_name(name: str) -> Mark | None:
    """What a range of this name marks; None: nothing."""
    plain = name.strip("#_ ")
    if _OPTIMISER.fullmatch(plain):
        return Mark(MarkSort.OPTIMISER, plain)
    if _INPUT.fullmatch(plain):
        return Mark(MarkSort.INPUT, "")
    if _COLLECTIVE.fullmatch(plain):
        return Mark(MarkSort.COLLECTIVE, plain)
    called = _CALLED.fullmatch(plain)
    if called is not None:
        return Mark(MarkSort.NUMBERED_STEP, called["stem"].lower(), int(called["number"]), _purpose(called["stem"]))
    for sort, pattern in ((MarkSort.NUMBERED_STEP, _NUMBERED), (MarkSort.EPOCH, _EPOCH), (MarkSort.STEP, _NAMED)):
        found = pattern.fullmatch(plain)
        if found is not None:
            number = found.groupdict().get("number")
            stem = plain if number is None else plain[: found.start("number")]
            return Mark(sort, stem.lower(), None if number is None else int(number), _purpose(stem))
    return None


def of_line(line: str, name: str) -> Mark | None:
    """What an event marks that lies on a line of a device which shows steps, or programs."""
    if line == STEP_LINE:
        return Mark(MarkSort.NUMBERED_STEP, STEP_LINE, int(name) if re.fullmatch(r"\d{1,8}", name) else None)
    return Mark(MarkSort.PROGRAM, _PROGRAM_RUN.sub("", name)) if line == PROGRAM_LINE else None


def of_ops(ops: Iterable[Mapping[str, Any]]) -> dict[int, Mark]:
    """What the ranges of a run mark.

    Args:
        ops: Rows of `kernel_ops`.

    Returns:
        Number of the row to what it marks; those that mark nothing are left out.
    """
    found: dict[int, Mark] = {}
    for op in ops:
        if op["kind"] == EventKind.INPUT.word:
            found[op["op_id"]] = Mark(MarkSort.INPUT, "")
        elif op["kind"] == EventKind.ANNOTATION.word and (mark := of_name(op["name"] or "")):
            found[op["op_id"]] = mark
    return found


def _purpose(text: str) -> Loop | None:
    low = text.lower()
    return next((loop for word, loop in _PURPOSES.items() if low.startswith(word)), None)
