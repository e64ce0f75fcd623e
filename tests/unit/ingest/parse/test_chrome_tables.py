"""Kineto traces that are read as tables come out as those that are read event by event."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.attribution.flops import TorchShapes
from dlprof.ingest.formats import kineto
from dlprof.ingest.kernels.scopes import Scope
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse import chrome, chrome_tables
from tests.unit.ingest.imports import DATA

KINETO = sorted(path.name for path in DATA.glob("*.json.gz") if path.name.startswith(("hta_", "tracelens_mi300x")))
EVENT = (
    '{{"ph": "X", "cat": "cpu_op", "name": "aten::op{0}", "pid": 1, "tid": 2, "ts": {0}.125, "dur": 1.5, "args": {{}}}}'
)


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chrome, "PIECE_BYTES", 2000)
    monkeypatch.setattr(chrome_tables, "BLOCK_BYTES", 5000)


class Counter:
    """Counts the blocks that were read as tables."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables = self.lists = 0
        inner = kineto._of_table

        def of_table(table: Any, work: Any) -> Any:
            self.tables += 1
            return inner(table, work)

        monkeypatch.setattr(kineto, "_of_table", of_table)


def told(trace: Trace) -> list[tuple[Any, ...]]:
    """The events of a trace, with what their numbers stand for."""
    events = trace.events.take()
    return sorted(
        (
            (
                int(events.kind[at]),
                trace.names[events.name[at]],
                int(events.start[at]),
                int(events.dur[at]),
                int(events.device[at]),
                trace.lanes[events.lane[at]],
                int(events.link[at]),
                _carried(trace.scopes[events.scope[at]]) if events.scope[at] >= 0 else None,
            )
            for at in range(len(events))
        ),
        key=str,
    )


def _carried(scope: Scope) -> Any:
    """What a scope holds; JSON counts, not how it is written."""
    return json.loads(scope.dims) if isinstance(scope, TorchShapes) else scope


def both(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Trace, Trace, Counter]:
    """A trace as tables and as events."""
    counter = Counter(monkeypatch)
    fast = kineto.read(path).trace
    monkeypatch.setattr(chrome_tables, "_separator", lambda _text: None)
    seen = counter.tables
    slow = kineto.read(path).trace
    assert fast is not None
    assert slow is not None
    assert counter.tables == seen
    assert set(fast.skipped) == set(slow.skipped)
    return fast, slow, counter


@pytest.mark.slow
@pytest.mark.parametrize("name", KINETO)
@pytest.mark.usefixtures("_small_blocks")
def test_a_real_trace_is_the_same_both_ways(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow, counter = both(DATA / name, monkeypatch)
    assert counter.tables > 0
    assert fast.dropped == slow.dropped
    assert told(fast) == told(slow)


def written(folder: Path, events: list[str], between: str = ",\n") -> Path:
    path = folder / "t.json"
    path.write_text('{"schemaVersion": 1, "traceEvents": [' + between.join(events) + '], "traceName": "t"}')
    return path


ODD = {
    "a text for a process": '{"ph": "X", "cat": "cpu_op", "name": "n", "pid": "Spans", "tid": "stream 7", "ts": 1, "dur": 1}',
    "no duration": '{"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, "ts": 1}',
    "a null for a time": '{"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, "ts": null, "dur": 1}',
    "a number for a name": '{"ph": "X", "cat": "cpu_op", "name": 17, "pid": 1, "tid": 1, "ts": 1, "dur": 1}',
    "no name": '{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}',
    "a time beyond all clocks": '{"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, "ts": 1e300, "dur": 1}',
    "a list for arguments": '{"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": []}',
    "a text that looks like the end": '{"ph": "X", "cat": "cpu_op", "name": "},\\n{", "pid": 1, "tid": 1, "ts": 1, "dur": 1}',
    "events inside": '{"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "x": [{"a": 1},\n{"a": 2}]}',
    "a large number": '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"correlation": 99999999999999999999}}',
    "bytes as a text": '{"ph": "X", "cat": "gpu_memcpy", "name": "c", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"bytes": "512", "device": 1}}',
    "a fraction of a byte": '{"ph": "X", "cat": "gpu_memcpy", "name": "c", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"bytes": 512.0, "device": 1}}',
    "no event": "17",
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.usefixtures("_small_blocks")
def test_an_odd_event_is_the_same_both_ways(odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = [EVENT.format(n) for n in range(300)]
    events.insert(150, ODD[odd])
    fast, slow, counter = both(written(tmp_path, events), monkeypatch)
    assert counter.tables > 0
    assert fast.dropped == slow.dropped
    assert told(fast) == told(slow)


@pytest.mark.parametrize("between", [",", ",\n", ",\n  ", "\n, ", ",\r\n"])
@pytest.mark.usefixtures("_small_blocks")
def test_any_blanks_between_events_are_read_as_tables(
    between: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, [EVENT.format(n) for n in range(300)], between)
    fast, slow, counter = both(path, monkeypatch)
    assert counter.tables >= 5
    assert fast.size == 300
    assert told(fast) == told(slow)


@pytest.mark.usefixtures("_small_blocks")
def test_a_damage_behind_tables_is_told_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path, [EVENT.format(n) for n in range(300)])
    text = path.read_bytes()
    place = text.index(b"aten::op200")
    path.write_bytes(text[:place] + b'"' + text[place:])
    with pytest.raises(ArtifactError, match=f"byte {place + 1}"):
        kineto.read(path)


@pytest.mark.slow
@pytest.mark.usefixtures("_small_blocks")
def test_a_packed_trace_that_ends_early_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, [EVENT.format(n) for n in range(3000)])
    packed = tmp_path / "t.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes())[:-200])
    with pytest.raises(ArtifactError, match="damaged"):
        kineto.read(packed)
