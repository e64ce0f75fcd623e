"""Reads the kernel windows of a run (`raw/kernels/window-NNN.json` and the files it names) into the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from dlprof import safe_files
from dlprof.engines import registry as engines
from dlprof.ingest.artifact import ArtifactError, Health, ProcessId, Skipped
from dlprof.ingest.attribution.labels import Model, model_of
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.formats.base import Reader
from dlprof.ingest.kernels.assemble import Assembly
from dlprof.ingest.kernels.context import TraceContext
from dlprof.ingest.kernels.input_stages import DatasetGraph
from dlprof.ingest.kernels.intervals import Intervals
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.kernels.windows import KernelWindow, windows_table
from dlprof.ingest.own.disturbed_steps import Undisturbed, undisturbed
from dlprof.schema.manifest import Anchor, Clock
from dlprof.schema.vocabulary import LOOP_OF_SPAN

_GRAPHS = ("*-graph-[0-9][0-9][0-9].json", "*-nodes.json")
"""Files beside the windows in which tracers keep what they know of the engine's graphs."""
_BEHIND = 0.25
"""Of a step: so much may pass from the end of the last one to that of the window."""
_WHOLE_RUN_FORMATS = {".sqlite": "nsys", ".nvvp": "nvprof", ".json": "theano"}
"""Format of what a tracer left of a whole run, by the ending of its file."""


class _WindowFile(msgspec.Struct):
    """A window as the probe describes it; times on the clock of the process (ns)."""

    engine: str
    files: list[str]
    begin_ns: int
    end_ns: int
    loop: str
    loop_id: int | None
    steps: int
    start_cost_ns: int | None
    stop_cost_ns: int | None
    zero_ns: int | None = None
    """Zero of the clock of the files; None: they tell it themselves."""
    anchor: Anchor | None = None
    """How the process's clock stands to the wall clock right behind the window; None: an older probe."""


@dataclass
class Windows:
    """The windows of a run, growing one by one.

    Attributes:
        process: The traced process.
        run: Tables of the run that are there already: spans, steps, phase_intervals.
        clock: The clock of the manifest.
        pipelines: Input pipelines that the program made.
        names: Names of files in the tables.
        asynchronous: Steps return before the device is done: then the time of one says nothing of what ran in it.
        health: What the user must know.
    """

    process: ProcessId
    run: Mapping[str, pa.Table]
    clock: Clock
    pipelines: Sequence[DatasetGraph] = ()
    names: FileNames | None = None
    asynchronous: bool = False
    health: list[Health] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    """What readers passed over, of all windows."""
    _assembly: Assembly = field(default_factory=Assembly)
    _windows: list[KernelWindow] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._assembly.pipelines = self.pipelines

    def add(self, path: Path) -> None:
        """Read one window; one that nobody can read is told, and left out.

        Raises:
            ArtifactError: It is damaged.
        """
        window = _description(path)
        reader = _reader_of(window.engine)
        if reader is None:
            text = (
                f"{path.name} is of {window.engine[:60]}, whose traces nothing here can read: its kernels are missing."
            )
            self.health.append(Health("window-unreadable", "warning", text))
            return
        begin, end = window.begin_ns - self.process.origin_ns, window.end_ns - self.process.origin_ns
        started, stopped = window.start_cost_ns or 0, window.stop_cost_ns or 0
        steps, count, span = self._steps(begin, end, window.loop_id), window.steps, None
        kept = None if self.asynchronous or len(steps) != count else self._undisturbed(steps, window.loop_id)
        if kept is not None:
            self._tell_disturbed(path, kept, count)
            steps = steps[kept.first : kept.last]
            count, span = len(steps), (int(steps.starts[0]), int(steps.ends[-1]))
            # It is under the tracer that they were long: what they took is the tracer's cost.
            started, stopped = started + span[0] - begin, stopped + end - span[1]
            begin, end = span
        elif self._outlasts(end, steps, count):
            # What came behind its last step is of another loop: that an own one had ended nobody said before.
            span = begin, int(steps.ends[-1])
            stopped, end = stopped + end - span[1], span[1]
        dropped = self._read(path, window, reader, steps, span)
        self._windows.append(
            KernelWindow(
                self.process,
                len(self._windows),
                window.engine,
                window.files[0],
                start_ns=begin,
                dur_ns=end - begin,
                dropped=dropped,
                loop=LOOP_OF_SPAN.get(window.loop),
                first_step=steps.values[0] if len(steps) else None,
                steps=count,
                start_cost_ns=started,
                stop_cost_ns=stopped,
            )
        )

    def _read(
        self, path: Path, window: _WindowFile, reader: Reader, steps: Intervals, span: tuple[int, int] | None
    ) -> int:
        """Read the files of a window, of which only what lies in the span is taken; how many events were dropped."""
        model, dropped = self._model(path.parent), 0
        for name in window.files:
            trace = formats.read(_packed(path, name), reader, is_own=True).trace
            if trace is not None:
                dropped += trace.dropped
                self.skipped += trace.skipped
                shift = (
                    self._shift(trace, window.anchor)
                    if window.zero_ns is None
                    else window.zero_ns - self.process.origin_ns
                )
                self._assembly.add(trace, replace(self._context(shift, model, steps), span=span))
        return dropped

    def add_whole_run(self, path: Path) -> None:
        """Read what a tracer left of the whole run: one around the process, or one that keeps sums.

        Raises:
            ArtifactError: It is damaged.
        """
        reader = formats.named(_WHOLE_RUN_FORMATS.get(path.suffix, "nvprof"))
        assert reader is not None  # noqa: S101  (they come with dlprof)
        trace = formats.read(path, reader, is_own=True).trace
        if trace is None:
            return
        self.skipped += trace.skipped
        context = self._context(self._shift(trace), self._model(path.parent), self._steps(0, 2**62, None))
        start, end = self._assembly.add(trace, context)
        if trace.sums is not None:
            start, end = 0, self._wall_ns()
        self._windows.append(
            KernelWindow(
                self.process, len(self._windows), trace.engine, path.name, start, end - start, dropped=trace.dropped
            )
        )

    def _context(self, shift_ns: int, model: Model, steps: Intervals) -> TraceContext:
        """That of a trace of the next window."""
        return TraceContext(self.process, shift_ns, len(self._windows), model, steps, self._phases())

    def _wall_ns(self) -> int:
        return int(self.run["phases"]["dur_ns"].to_numpy().sum()) if "phases" in self.run else 0

    def _shift(self, trace: Trace, near: Anchor | None = None) -> int:
        """What turns the trace's clock, which is the wall clock, into the run's.

        Args:
            trace: The trace.
            near: How both stood to each other when it was made: while the wall clock is set it may go half a percent
                faster. None: as they did when the run began.
        """
        if trace.first_ns is None:
            return 0
        anchor = near or self.clock.anchor_start
        if anchor is None:  # dlprof was killed before it wrote one
            raise ArtifactError("the run does not say how its clock stands to the wall clock", path=trace.path)
        return int((trace.zero_ns or 0) - (anchor.wall_ns - anchor.perf_ns + self.process.origin_ns))

    def _steps(self, begin: int, end: int, loop: int | None) -> Intervals:
        """The steps in the window, with their running numbers in the run."""
        table = self.run.get("steps")
        if table is None or not table.num_rows:
            return Intervals()
        start = table["start_ns"].to_numpy()
        waited = np.nan_to_num(table["input_ns"].to_numpy(zero_copy_only=False).astype(float)).astype(np.int64)
        number = np.cumsum(table["count"].to_numpy()) - table["count"].to_numpy()
        inside = (start >= begin) & (start < end)
        if loop is not None:
            inside &= table["loop_id"].to_numpy() == loop
        ends = start + table["dur_ns"].to_numpy()
        begins = np.maximum(start - waited, begin)
        return Intervals(begins[inside], ends[inside], number[inside].tolist())

    def _undisturbed(self, steps: Intervals, loop: int | None) -> Undisturbed | None:
        """The steps of a window that nothing has disturbed; None: nothing has."""
        table = self.run.get("steps")
        if table is None or not len(steps):
            return None
        start, dur = table["start_ns"].to_numpy(), table["dur_ns"].to_numpy()
        is_plain = ~np.isin(start, steps.starts) & ((start < steps.starts[0]) | (start >= steps.ends[-1]))
        is_plain &= ~table["compiled"].to_numpy(zero_copy_only=False).astype(bool)
        if loop is not None:
            is_plain &= table["loop_id"].to_numpy() == loop
        each = dur[is_plain] / np.maximum(1, table["count"].to_numpy()[is_plain])
        return undisturbed(steps.ends - steps.starts, float(np.median(each)) if len(each) else None)

    def _outlasts(self, end: int, steps: Intervals, count: int | None) -> bool:
        """Whether a window went on for long behind the last of its steps, where these are as long as what they do."""
        if self.asynchronous or not len(steps) or len(steps) != count:
            return False
        return bool(end - steps.ends[-1] > _BEHIND * (steps.ends[-1] - steps.starts[0]) / len(steps))

    def _tell_disturbed(self, path: Path, kept: Undisturbed, count: int) -> None:
        text = (
            f"{kept.left_out} of {count} steps of {path.name} are left out: one took {kept.longest_ns / 1e9:.2f} s, far"
            " more than a plain one. The tracer needed memory meanwhile, or something else kept the process waiting."
        )
        self.health.append(Health("window-disturbed", "info", text, kept.left_out))

    def _phases(self) -> Intervals:
        table = self.run.get("phase_intervals")
        if table is None:
            return Intervals()
        start = table["start_ns"].to_numpy()
        return Intervals(start, start + table["dur_ns"].to_numpy(), table["phase"].to_pylist())

    def _model(self, folder: Path) -> Model:
        spans = self.run.get("spans")
        details = spans["detail"].to_pylist() if spans is not None else []
        different = dict.fromkeys(details)  # thousands of calls of `predict` may say the same
        facts = [json.loads(detail).get("model") or {} for detail in different if detail and '"model"' in detail]
        return model_of(facts, self._graphs(folder), self.names)

    def _graphs(self, folder: Path) -> Sequence[Mapping[str, Any]]:
        graphs = []
        for path in sorted(path for pattern in _GRAPHS for path in folder.glob(pattern)):
            try:
                graphs.append(json.loads(safe_files.read_text(path)))
            except (OSError, ValueError):
                self.health.append(Health("graph-lost", "warning", f"{path.name} is damaged: kernels lack layers."))
        return graphs

    def held(self) -> pa.Table:
        """Rows of `memory_owners`: what an allocator held at the peak of a step of a window."""
        return self._assembly.held()

    def tables(self) -> dict[str, pa.Table]:
        """The tables of kernels."""
        self.health.extend(self._assembly.health)
        self._assembly.health = []
        return {**self._assembly.tables(), "kernel_windows": windows_table(self._windows)}


def _description(path: Path) -> _WindowFile:
    try:
        window = msgspec.json.decode(safe_files.read_path(path), type=_WindowFile)
    except (OSError, msgspec.DecodeError) as error:
        raise ArtifactError(f"damaged: {error}", path=path) from error
    if not window.files:
        raise ArtifactError("damaged: it names no files", path=path)
    return window


def _reader_of(engine: str) -> Reader | None:
    """What reads the traces of an engine; None: the engine, or the format of its windows, is not known."""
    spec = engines.find(engine)
    return formats.named(spec.window_format) if spec is not None and spec.window_format else None


def _packed(window: Path, name: str) -> Path:
    """A file that a window names, or its packed form.

    Raises:
        ArtifactError: It is no name of a regular file below the window's folder.
    """
    for one in (name, f"{name}.gz"):
        if safe_files.is_file(window.parent, one):
            return window.parent / one
    raise ArtifactError(f"it names {name[:200]!r}, and there is no such file in its folder", path=window)
