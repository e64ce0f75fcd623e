"""A probe in this process, with a stand-in of an engine."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.own import wire
from dlprof.ingest.own.wire_stream import Stream
from tests.contracts.engine_exercise import Setup
from tests.contracts.engine_programs import PROGRAMS
from tests.stand_ins.engines import versions


class Probed(Setup):
    """A probe, and what it wrote."""

    def __init__(self, name: str, folder: Path, mode: str) -> None:
        program = PROGRAMS[name]()
        program.load()
        super().__init__(program, str(folder), mode)
        self._folder = folder
        self._ended = False

    def end(self) -> list[str]:
        """Once."""
        ended, self._ended = self._ended, True
        return [] if ended else super().end()

    def stream(self) -> Stream:
        """All of it, at the end."""
        self.end()
        return wire.read(self._folder / "inproc.wire")


@pytest.fixture
def probed(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """`probed(name)`: a probe that is attached to the stand-in of this engine, whose modules can be imported."""
    with contextlib.ExitStack() as stack:

        def make(name: str, mode: str = "windows") -> Probed:
            stack.enter_context(versions.importable(name))
            setup = Probed(name, tmp_path / "probed", mode)
            stack.callback(setup.end)
            return setup

        yield make
