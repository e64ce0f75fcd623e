"""Kernel windows of a run, and what tracers left of the whole run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dlprof import plugins
from dlprof.engines import registry as engines
from dlprof.engines.base import EngineSpec
from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.formats.base import FileContent, Reader
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.own.windows import Windows
from dlprof.schema.manifest import Anchor, Clock
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import EventKind

PROCESS = ProcessId("h", 0, 1, 1_000)


def window(folder: Path, engine: str, **more: Any) -> Path:
    """A window from 2,000 to 3,000 on the clock of the process, with one file."""
    described = {
        "engine": engine, "files": ["trace.txt"], "begin_ns": 2_000, "end_ns": 3_000, "loop": "fit", "loop_id": 1, "steps": 2,
        "start_cost_ns": 7, "stop_cost_ns": 9, "zero_ns": 0, **more,
    }  # fmt: skip
    (folder / "trace.txt").write_text("matmul 2100 50\n")
    path = folder / "window-000.json"
    path.write_text(json.dumps(described))
    return path


def read_toy(path: Path) -> FileContent:
    """Operators as lines of text: name, start, duration."""
    trace = Trace(path, "toy", "toy")
    lane = trace.lane(0, Lane(0, 0, "main"))
    for line in path.read_text().splitlines():
        name, start, dur = line.split()
        trace.add_rows([EventRow(EventKind.OPERATOR, trace.names.number(name), int(start), int(dur), lane)])
    return FileContent.of(trace)


class Entry:
    """An entry point that gives `value`."""

    name = "toy"

    def __init__(self, value: object) -> None:
        self.value = value

    def load(self) -> object:
        """Give it."""
        return self.value


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A plug-in with an engine `toy`, the windows of which are of a format of its own."""
    spec = EngineSpec("toy", "Toy", "toy", ("toy",), window_format="toy-lines")
    reader = Reader("toy-lines", "toy", lambda _sample: False, read_toy)
    given = {engines.GROUP: [Entry(spec)], formats.GROUP: [Entry(reader)]}
    monkeypatch.setattr(plugins, "entry_points", lambda group: given.get(group, []))
    for cached in (engines.plugged_in, formats.all_readers):
        cached.cache_clear()
    yield
    engines.plugged_in.cache_clear()
    formats.all_readers.cache_clear()


@pytest.mark.usefixtures("toy")
def test_a_plug_ins_reader_serves_the_windows_of_its_engine(tmp_path: Path) -> None:
    """From its file to events on the run's time line."""
    windows = Windows(PROCESS, {}, Clock())

    windows.add(window(tmp_path, "toy"))

    tables = windows.tables()
    assert tables["kernel_ops"]["name"].to_pylist() == ["matmul"]
    assert tables["kernel_events"].select(["start_ns", "dur_ns", "window"]).to_pylist() == [
        {"start_ns": 1_100, "dur_ns": 50, "window": 0}
    ]


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(("own", "start_ns"), [({"perf_ns": 3_000, "wall_ns": 53_500}, 600), (None, 1_100)])
def test_a_window_has_the_clock_of_its_own_moment(tmp_path: Path, own: dict[str, int] | None, start_ns: int) -> None:
    """The wall clock was 50,000 ahead when the run began, and is set to be 500 more; older probes do not tell."""
    clock = Clock(anchor_start=Anchor(perf_ns=1_000, wall_ns=51_000))
    windows = Windows(PROCESS, {}, clock)
    path = window(tmp_path, "toy", zero_ns=None, anchor=own)
    (tmp_path / "trace.txt").write_text("matmul 52100 50\n")
    windows.add(path)

    assert windows.tables()["kernel_events"]["start_ns"].to_pylist() == [start_ns]


@pytest.mark.usefixtures("toy")
def test_a_window_is_a_row_with_its_loop_and_costs(tmp_path: Path) -> None:
    """Times are those of the run; of steps that the run does not have there is no first one."""
    windows = Windows(PROCESS, {}, Clock())

    windows.add(window(tmp_path, "toy"))

    assert windows.tables()["kernel_windows"].to_pylist() == [
        {
            "host": "h", "rank": 0, "pid": 1, "window": 0, "engine": "toy", "source": "trace.txt", "loop": "train",
            "start_ns": 1_000, "dur_ns": 1_000, "first_step": None, "steps": 2, "start_cost_ns": 7, "stop_cost_ns": 9,
            "dropped": 0,
        }
    ]  # fmt: skip


def step(start_ns: int, dur_ns: int) -> dict[str, Any]:
    """A step of the run, on its timeline."""
    return {
        "loop": "train", "loop_id": 1, "count": 1, "start_ns": start_ns, "dur_ns": dur_ns, "input_ns": 0, "compiled": False,
    }  # fmt: skip


def told(windows: Windows) -> tuple[Any, ...]:
    """Of the first window its length (ns), its steps, what it cost to stop (ns), and the names of what ran in it."""
    tables = windows.tables()
    row = tables["kernel_windows"].to_pylist()[0]
    names = {op["op_id"]: op["name"] for op in tables["kernel_ops"].to_pylist()}
    ran = [names[number] for number in tables["kernel_events"]["op_id"].to_pylist()]
    return row["dur_ns"], row["steps"], row["stop_cost_ns"], ran


DISTURBED = [step(0, 300_000_000), step(300_000_000, 300_000_000), step(600_000_000, 4_400_000_000)]


@pytest.mark.parametrize(
    ("asynchronous", "expected"),
    [
        (False, (300_000_000, 1, 4_400_000_009, ["matmul"])),
        (True, (4_700_000_000, 2, 9, ["matmul", "fill"])),  # there the time of a step tells nothing
    ],
)
@pytest.mark.usefixtures("toy")
def test_a_step_that_was_disturbed_is_left_out_with_its_events(
    asynchronous: bool, expected: tuple[Any, ...], tmp_path: Path
) -> None:
    """What it took is the tracer's cost: it was under the tracer that it was long."""
    steps = pa.Table.from_pylist(DISTURBED, schema=TABLES["steps"])
    windows = Windows(PROCESS, {"steps": steps}, Clock(), asynchronous=asynchronous)
    path = window(tmp_path, "toy", begin_ns=300_001_000, end_ns=5_000_001_000)
    (tmp_path / "trace.txt").write_text("matmul 300002000 50\nfill 700000000 4000000000\n")

    windows.add(path)

    assert told(windows) == expected
    assert [entry.slug for entry in windows.health] == ([] if asynchronous else ["window-disturbed"])


@pytest.mark.parametrize(
    ("asynchronous", "end_s", "expected"),
    [
        (False, 1.5, (600_000_000, 2, 600_000_009, ["matmul"])),
        (False, 0.95, (650_000_000, 2, 9, ["matmul", "fill"])),  # as long as it takes to see that a step is over
        (True, 1.5, (1_200_000_000, 2, 9, ["matmul", "fill"])),  # a device may still do what the steps asked for
    ],
)
@pytest.mark.usefixtures("toy")
def test_what_comes_behind_the_last_step_of_a_window_is_none_of_its_steps(
    asynchronous: bool, end_s: float, expected: tuple[Any, ...], tmp_path: Path
) -> None:
    """A training that was over, whose end only the next one tells: its first step was counted as one of two."""
    steps = pa.Table.from_pylist([step(at * 100_000_000, 300_000_000) for at in (0, 3, 6)], schema=TABLES["steps"])
    windows = Windows(PROCESS, {"steps": steps}, Clock(), asynchronous=asynchronous)
    path = window(tmp_path, "toy", begin_ns=300_001_000, end_ns=round(end_s * 1e9) + 1_000, loop_id=1)
    (tmp_path / "trace.txt").write_text("matmul 300002000 50\nfill 920000000 20000\n")

    windows.add(path)

    assert told(windows) == expected


@pytest.mark.parametrize("engine", ["nobody", "theano"])
def test_a_window_that_nobody_can_read_is_a_line_in_health(engine: str, tmp_path: Path) -> None:
    """Of an engine that is not known, or of one that has no windows."""
    windows = Windows(PROCESS, {}, Clock())

    windows.add(window(tmp_path, engine))

    assert windows.tables()["kernel_windows"].num_rows == 0
    assert [(entry.slug, engine in entry.message) for entry in windows.health] == [("window-unreadable", True)]


@pytest.mark.parametrize("change", [{"files": []}, {"begin_ns": "x"}, {"files": 3}, {"steps": None}])
def test_a_damaged_description_is_one_error(change: dict[str, Any], tmp_path: Path) -> None:
    """With the name of the file."""
    with pytest.raises(ArtifactError, match=r"window-000\.json: damaged"):
        Windows(PROCESS, {}, Clock()).add(window(tmp_path, "torch", **change))


def test_sums_over_the_whole_run_are_a_window_as_long_as_the_run(tmp_path: Path) -> None:
    """Rows with counts and totals, and no events."""
    path = tmp_path / "theano-profile.json"
    path.write_text('{"functions": [{"name": "train", "operators": {"Dot22": [6, 0.5], "Sum": [2, 0.25]}}]}')
    phases = pa.Table.from_pylist([{"phase": "fit", "dur_ns": 70}, {"phase": "script", "dur_ns": 30}], TABLES["phases"])
    windows = Windows(PROCESS, {"phases": phases}, Clock())

    windows.add_whole_run(path)

    tables = windows.tables()
    assert tables["kernel_ops"]["op"].to_pylist() == ["Dot22", "Sum"]
    assert tables["kernel_totals"].select(["count", "total_ns"]).to_pylist() == [
        {"count": 6, "total_ns": 500_000_000},
        {"count": 2, "total_ns": 250_000_000},
    ]
    assert tables["kernel_events"].num_rows == 0
    assert tables["kernel_windows"].select(["start_ns", "dur_ns"]).to_pylist() == [{"start_ns": 0, "dur_ns": 100}]


def test_a_graph_that_is_damaged_is_told(tmp_path: Path) -> None:
    """The kernels are there, without layers."""
    (tmp_path / "mxnet-graph-000.json").write_text("{nonsense")
    (tmp_path / "theano-profile.json").write_text('{"functions": []}')
    windows = Windows(PROCESS, {}, Clock())

    windows.add_whole_run(tmp_path / "theano-profile.json")

    assert [entry.slug for entry in windows.health] == ["graph-lost"]
