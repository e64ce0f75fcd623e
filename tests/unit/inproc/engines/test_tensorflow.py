"""The first call of a graph that TensorFlow traced is timed, and leaves no trace of dlprof behind."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes import wire
from dlprof_probes.inproc import recorder
from dlprof_probes.inproc.engines.tensorflow import time_first_run

from dlprof.ingest.own import wire as reader


class Traced:
    """As `ConcreteFunction` of TensorFlow: what is set on one hides the method of its class."""

    name = "step"

    def _call_flat(self, value: int) -> int:
        if value < 0:
            raise ValueError("below 0")
        return 2 * value


@pytest.fixture
def probe(tmp_path: Path) -> SimpleNamespace:
    """A probe outside all loops."""
    (tmp_path / "status").write_bytes(b" " * 1024)
    out = recorder.Recorder(str(tmp_path / "inproc.wire"), str(tmp_path / "status"), lambda _path: False, False)
    return SimpleNamespace(recorder=out, guard=lambda hook: hook, current_loop=lambda: None)


def spans(probe: SimpleNamespace, folder: Path) -> list[tuple[str, str]]:
    """Kind and name of the spans that were recorded."""
    probe.recorder.flush()
    return [(span.kind, span.name) for span in reader.read(folder / "inproc.wire").spans.values()]


def test_only_the_first_call_is_timed(probe: SimpleNamespace, tmp_path: Path) -> None:
    """The second is the class's own again."""
    function = Traced()
    time_first_run(probe, function)

    results = [function._call_flat(1), function._call_flat(2)]

    assert results == [2, 4]
    assert vars(function) == {}
    assert spans(probe, tmp_path) == [("first_run", "first run of step")]


def test_a_first_call_that_fails_raises_what_it_raised(probe: SimpleNamespace, tmp_path: Path) -> None:
    """And its span ends."""
    function = Traced()
    time_first_run(probe, function)

    with pytest.raises(ValueError, match="below 0"):
        function._call_flat(-1)

    assert probe.recorder.stack() == []
    assert len(spans(probe, tmp_path)) == 1


@pytest.mark.parametrize("inside", ["a loop", "another graph"])
def test_steps_and_parts_of_graphs_are_left_alone(probe: SimpleNamespace, inside: str) -> None:
    """The time of a step is known, and a part of a graph runs with it."""
    function: Any = Traced()
    if inside == "a loop":
        probe.current_loop = object
    else:
        probe.recorder.begin(wire.SpanKind.GRAPH_COMPILE, "trace")

    time_first_run(probe, function)

    assert vars(function) == {}
