"""Reads the kernel windows of a run (`raw/kernels/window-NNN.json` and the files it names) into the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dlprof.ingest.artifact import ArtifactError, Health, Who
from dlprof.ingest.attribution.labels import Model, model_of
from dlprof.ingest.formats import chainer, cntk, kineto, mxnet, openvino, tf1_steps, xspace
from dlprof.ingest.kernels import assemble
from dlprof.ingest.kernels.trace import CPU, Kind, Trace
from dlprof.ingest.parse import cuda_sqlite
from dlprof.schema.manifest import Clock
from dlprof.schema.tables import TABLES

_READERS = {
    "tensorflow": xspace.read, "jax": xspace.read, "torch": kineto.read, "mxnet": mxnet.read,
    "tensorflow1": tf1_steps.read, "cntk": cntk.read, "chainer": chainer.read, "openvino": openvino.read,
}  # fmt: skip
_LOOPS = {"fit": "train", "evaluate": "test", "predict": "predict"}


@dataclass
class Windows:
    """The windows of a run, growing one by one.

    Attributes:
        who: The traced process.
        run: Tables of the run that are there already: spans, steps, phase_intervals.
        clock: The clock of the manifest.
    """

    who: Who
    run: Mapping[str, pa.Table]
    clock: Clock
    health: list[Health] = field(default_factory=list)
    _assembly: assemble.Assembly = field(default_factory=assemble.Assembly)
    _rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Read one window.

        Raises:
            ArtifactError: It is damaged.
        """
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
            engine, number = facts["engine"], len(self._rows)
            begin, end = facts["begin_ns"] - self.who.origin_ns, facts["end_ns"] - self.who.origin_ns
            files = [path.parent / name for name in facts["files"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ArtifactError(f"damaged: {error}", path=path) from error
        steps = self._steps(begin, end, facts["loop_id"])
        model = self._model(path.parent)
        dropped = 0
        for file in files:
            trace = _READERS[engine](_packed(file)).trace
            if trace is None:
                continue
            dropped += trace.dropped
            zero = facts.get("zero_ns")
            shift = self._shift(trace) if zero is None else zero - self.who.origin_ns
            self._assembly.add(trace, assemble.Place(self.who, shift, number, model, steps, self._phases()))
        self._rows.append({
            "host": self.who.host, "rank": self.who.rank, "pid": self.who.pid, "window": number, "engine": engine,
            "source": facts["files"][0], "loop": _LOOPS.get(facts["loop"]), "start_ns": begin, "dur_ns": end - begin,
            "first_step": steps.values[0] if len(steps.values) else None, "steps": facts["steps"],
            "start_cost_ns": facts["start_cost_ns"], "stop_cost_ns": facts["stop_cost_ns"], "dropped": dropped,
        })  # fmt: skip

    def add_tool(self, path: Path) -> None:
        """Read what Nsight Systems or nvprof left of the whole run.

        Raises:
            ArtifactError: It is damaged.
        """
        read = cuda_sqlite.read_nsys if path.suffix == ".sqlite" else cuda_sqlite.read_nvprof
        trace = read(path).trace
        if trace is None:
            return
        number, steps = len(self._rows), self._steps(0, 2**62, None)
        place = assemble.Place(self.who, self._shift(trace), number, self._model(path.parent), steps, self._phases())
        start, end = self._assembly.add(trace, place)
        self._rows.append({
            "host": self.who.host, "rank": self.who.rank, "pid": self.who.pid, "window": number, "engine": "cuda",
            "source": path.name, "loop": None, "start_ns": start, "dur_ns": end - start, "first_step": None,
            "steps": None, "start_cost_ns": None, "stop_cost_ns": None, "dropped": trace.dropped,
        })  # fmt: skip

    def add_theano(self, path: Path) -> None:
        """Read the sums that Theano's profiler kept over the whole run.

        Raises:
            ArtifactError: The file is damaged.
        """
        trace = Trace(path, "theano", "theano", aggregated=True)
        try:
            functions = json.loads(path.read_text(encoding="utf-8"))["functions"]
            trace.programs["aggregates"] = [
                {"name": op, "kind": Kind.OPERATOR, "count": calls, "total_ns": round(seconds * 1e9), "device": CPU}
                for function in functions
                for op, (calls, seconds) in function["operators"].items()
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ArtifactError(f"damaged: {error}", path=path) from error
        number = len(self._rows)
        self._assembly.add(trace, assemble.Place(self.who, 0, number))
        wall = self.run["phases"]["dur_ns"].to_numpy().sum() if "phases" in self.run else 0
        self._rows.append({
            "host": self.who.host, "rank": self.who.rank, "pid": self.who.pid, "window": number, "engine": "theano",
            "source": path.name, "loop": None, "start_ns": 0, "dur_ns": int(wall), "first_step": None, "steps": None,
            "start_cost_ns": None, "stop_cost_ns": None, "dropped": 0,
        })  # fmt: skip

    def _shift(self, trace: Trace) -> int:
        """What turns the trace's clock, which is the wall clock, into the run's."""
        anchor = self.clock.anchor_start
        if anchor is None:  # dlprof was killed before it wrote one
            raise ArtifactError("the run does not say how its clock stands to the wall clock", path=trace.path)
        wall = anchor.wall_ns - anchor.perf_ns + self.who.origin_ns
        return int((trace.zero_ns or 0) - wall)

    def _steps(self, begin: int, end: int, loop: int | None) -> assemble.Intervals:
        """The steps in the window, with their running numbers in the run."""
        table = self.run.get("steps")
        if table is None or not table.num_rows:
            return assemble.Intervals()
        start = table["start_ns"].to_numpy()
        waited = np.nan_to_num(table["input_ns"].to_numpy(zero_copy_only=False).astype(float)).astype(np.int64)
        number = np.cumsum(table["count"].to_numpy()) - table["count"].to_numpy()
        inside = (start >= begin) & (start < end)
        if loop is not None:
            inside &= table["loop_id"].to_numpy() == loop
        ends = start + table["dur_ns"].to_numpy()
        begins = np.maximum(start - waited, begin)
        return assemble.Intervals(begins[inside], ends[inside], number[inside].tolist())

    def _phases(self) -> assemble.Intervals:
        table = self.run.get("phase_intervals")
        if table is None:
            return assemble.Intervals()
        start = table["start_ns"].to_numpy()
        return assemble.Intervals(start, start + table["dur_ns"].to_numpy(), table["phase"].to_pylist())

    def _model(self, folder: Path) -> Model:
        spans = self.run.get("spans")
        details = spans["detail"].to_pylist() if spans is not None else []
        facts = [json.loads(detail).get("model") or {} for detail in details if detail and '"model"' in detail]
        graphs = []
        for path in sorted([*folder.glob("*-graph-[0-9][0-9][0-9].json"), *folder.glob("cntk-nodes.json")]):
            try:
                graphs.append(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError):
                self.health.append(Health("graph-lost", "warning", f"{path.name} is damaged: kernels lack layers."))
        return model_of(facts, graphs)

    def tables(self) -> dict[str, pa.Table]:
        """The tables of kernels."""
        self.health.extend(self._assembly.health)
        self._assembly.health = []
        return {
            **self._assembly.tables(),
            "kernel_windows": pa.Table.from_pylist(self._rows, schema=TABLES["kernel_windows"]),
        }


def _packed(path: Path) -> Path:
    """The file, or its packed form."""
    return path if path.is_file() else path.with_name(path.name + ".gz")
