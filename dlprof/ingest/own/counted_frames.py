"""Which frames of a sampled stack ran while their lines were counted.

From Python 3.12 on lines are counted wherever they run. Before, they are on the main thread, outside of Keras, in
callbacks of the user's and under `@profile`: elsewhere the trace function is taken away (Lines, in the architecture).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dlprof.engines import combined
from dlprof.ingest.own.source_outline import plain
from dlprof.ingest.parse.sampled_stacks import Frame

_KERAS = ("keras/", "tf_keras/", "keras_core/", "tensorflow/python/keras/", "tensorflow_core/python/keras/")
_ENTRIES = frozenset(
    f"{loop}{kind}" for loop in ("fit", "evaluate", "predict") for kind in ("", "_generator", "_loop")
) | {"train_on_batch", "test_on_batch", "predict_on_batch", "test_loop"}
"""Functions of Keras that run the user's code while lines are not counted, wherever they are seen."""
Place = tuple[str, int, str]
"""File, first line and plain name of a function: one that begins in the first line of its file is not the file's."""


@dataclass(frozen=True)
class Registered:
    """A function whose lines were to be counted.

    Attributes:
        file: As in the tables.
        name: Qualified, or on old versions of Python its last part alone.
        first_line: Where it begins.
        ran: The lines that were counted at least once.
        everywhere: Whether it is under `@profile`, so that all that it calls is counted, too.
        thinned: Whether it ran where lines were counted in windows: its hits are scaled, its time is from samples.
    """

    file: str
    name: str
    first_line: int
    ran: frozenset[int]
    everywhere: bool = False
    thinned: bool = False

    @property
    def place(self) -> Place:
        """By which it is known."""
        return self.file, self.first_line, plain(self.name)


@dataclass(frozen=True)
class CodeFrame:
    """A frame of a sampled stack with the function that it is of.

    Attributes:
        file, function: As in the tables.
        first_line: Where its function begins; None: not known.
        line: Where it stood.
        users: Whether it is the user's own code.
    """

    file: str
    function: str
    first_line: int | None
    line: int
    users: bool

    @cached_property
    def place(self) -> Place:
        """That of its function."""
        return self.file, self.first_line or 0, plain(self.function)


@dataclass(frozen=True)
class Counting:
    """Where lines were counted.

    Attributes:
        registered: The functions whose lines were to be counted; none where counting was off.
        on_threads: Whether lines were counted on every thread, and inside Keras: Python 3.12 and later.
    """

    registered: Mapping[Place, Registered] = field(default_factory=dict)
    on_threads: bool = False

    def of_stack(self, stack: Sequence[CodeFrame], *, main: bool, building: bool) -> Iterator[bool]:
        """For each frame, outermost first, whether its lines were counted.

        Args:
            stack: The frames, outermost first.
            main: Whether they are of the main thread.
            building: Whether Keras was building, compiling or saving a model then: there any of its functions counts
                nothing; elsewhere only its loops are known to do so.
        """
        on, always = main, self.on_threads
        for frame in stack:
            if frame.users:
                known = self.registered.get(frame.place)
                always = always or (known is not None and known.everywhere)
                yield (on or always) and known is not None and bool(known.ran)
            else:
                on = main and _still_on(on, frame, building)
                yield False

    def is_thinned(self, frame: CodeFrame) -> bool:
        """Whether the function of a frame was counted in windows."""
        known = self.registered.get(frame.place)
        return known is not None and known.thinned

    def has(self, frame: CodeFrame) -> bool:
        """Whether the very line was counted at least once."""
        known = self.registered.get(frame.place)
        return known is not None and frame.line in known.ran

    def nearest(self, frame: Frame) -> Registered | None:
        """The function that a frame is of, where its source is not known: the last of this name that begins above."""
        name = plain(frame.function)
        fits = (one for one in self.registered.values() if one.file == frame.file and plain(one.name) == name)
        return max((one for one in fits if one.first_line <= frame.line), key=lambda one: one.first_line, default=None)


def _still_on(on: bool, frame: CodeFrame, building: bool) -> bool:
    """Whether lines are counted in what a frame of a library calls."""
    if frame.file.startswith(_KERAS):
        if "/callbacks" in frame.file:
            return True
        return on and not building and plain(frame.function) not in _ENTRIES
    return on and not (building and frame.file.partition("/")[0] in combined.packages())
