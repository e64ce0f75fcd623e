"""Makes the tables of a run from its raw artifacts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from msgspec import structs

from dlprof import rundir
from dlprof.analysis import phases as phase_analysis
from dlprof.analysis import step_times
from dlprof.backends import registry
from dlprof.engines import registry as engines
from dlprof.ingest.artifact import ArtifactError, Health, Who
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import cores as cores_reader
from dlprof.ingest.own import gpu as gpu_reader
from dlprof.ingest.own import lines as lines_reader
from dlprof.ingest.own import marks as marks_reader
from dlprof.ingest.own import stacks as stacks_reader
from dlprof.ingest.own import windows as windows_reader
from dlprof.ingest.own import wire as wire_reader
from dlprof.launch import gpu_tracers
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Engine, Gpu, Keras, Manifest, Process
from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from dlprof.schema.vocabulary import RunState
from dlprof.store.writer import write_tables


def ingest(folder: RunDir) -> Manifest:
    """Make the tables of a run from its raw artifacts, as far as they are there.

    Returns:
        The manifest, with what the artifacts add to it. It is kept in the folder too, unless the dlprof
        that makes the run is still at work: then it is that one's to write.

    Raises:
        CannotCreateError: The run folder cannot be written to.
    """
    work = _Ingest(folder, folder.read_manifest())
    work.all()
    shutil.rmtree(folder.tables, ignore_errors=True)
    write_tables(folder.tables, work.tables)
    manifest = structs.replace(work.manifest, tables_version=SCHEMA_VERSION)
    if not rundir.goes_on(manifest):
        folder.write_manifest(manifest)
    return manifest


class _Ingest:
    """Reads one artifact after another; one that cannot be read is a line in `health`, no more."""

    def __init__(self, folder: RunDir, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.tables: dict[str, pa.Table] = {}
        self.health = [Health(one.slug, one.severity, one.message, one.count) for one in manifest.health]
        self.who = Who(manifest.machine.host, 0, manifest.process.pid or 0, manifest.clock.origin_perf_ns)
        self.names = FileNames(manifest.script_folder, manifest.cells)
        self.probes = {probe.name: structs.asdict(probe) for probe in manifest.probes}
        self._stream = wire_reader.Stream()

    def _note(self, **changes: Any) -> None:
        """Add to the manifest what an artifact tells."""
        self.manifest = structs.replace(self.manifest, **changes)

    def all(self) -> None:
        """Every artifact, then the phases over them."""
        raw = self.folder.raw
        self._unfinished()
        self._reading(raw / "inproc.wire", lambda path: self._inproc(wire_reader.read(path)))
        self._reading(raw / "marks.jsonl", self._marks)
        self._reading(raw / "cores.jsonl", self._cores)
        self._reading(raw / "gpu.jsonl", self._gpu)
        self._reading(raw / "lines.json", self._lines)
        self._stacks(sorted({*raw.glob("stacks-[0-9][0-9][0-9].json"), *raw.glob("stacks-[0-9][0-9][0-9].json.gz")}))
        self._phases()
        self._kernels()
        self._judge_kernels()
        self.tables["probes"] = _rows_table("probes", list(self.probes.values()))
        self.tables["health"] = _rows_table("health", [vars(entry) for entry in self.health])

    def _unfinished(self) -> None:
        """A run whose dlprof was killed, or is still at work, has no end: say so."""
        if self.manifest.state != RunState.RUNNING:
            return
        if rundir.goes_on(self.manifest):
            self.health.append(
                Health("still-running", "info", "The run is still going on: these are its figures so far.")
            )
        else:
            text = "dlprof was killed while the script ran: how the script ended is not known, and the end is missing."
            self.health.append(Health("dlprof-killed", "error", text))

    def _reading(self, path: Path, reader: Callable[[Path], None]) -> None:
        if not path.is_file():
            return
        try:
            reader(path)
        except ArtifactError as error:
            self.health.append(Health("artifact-damaged", "error", f"{error.message}."))
        except Exception as error:  # noqa: BLE001  (a bug in one reader must not cost the user the run)
            text = f"{path.name} cannot be read, by a bug in dlprof: {type(error).__name__}: {error}."
            self.health.append(Health("reader-failed", "error", text))

    def _marks(self, path: Path) -> None:
        """What a program that is no Python script said of its phases."""
        start, end = self.manifest.clock.anchor_start, self._end_ns()
        to_run = start.perf_ns - start.wall_ns if start is not None else 0
        stream = marks_reader.read(path, self.who.origin_ns, end or self.who.origin_ns, to_run)
        self._inproc(stream)
        marked = len(stream.spans) > 1
        self.probes["phases"].update(
            state="on" if marked else "unavailable", cost_ns=None, cost_source=None,
            reason=None if marked else "the program stated none: it can, in the file that DLPROF_MARK names",
        )  # fmt: skip

    def _inproc(self, stream: wire_reader.Stream) -> None:
        self._stream = stream
        if self.manifest.process.wall_ns is None:
            self.who = replace(self.who, pid=stream.meta.get("pid", 0))
            wall_ns = max(0, stream.last_ns - self.who.origin_ns)
            self._note(process=Process(pid=self.who.pid, wall_ns=wall_ns))
        self.health.extend(stream.notes)
        if not stream.complete:
            text = "The in-process probe did not finish in order: up to the last 0.5 s of phases and steps are missing."
            self.health.append(Health("inproc-cut", "warning", text))
        self.tables.update(wire_reader.tables(stream, self.who, self._end_ns(), self.names))
        for probe in stream.probes:
            self.probes[probe["name"]] = {**self.probes.get(probe["name"], {}), **probe}
        self._keras_facts(stream.meta)
        self._phase_cost(stream)

    def _end_ns(self) -> int:
        """End of the process on its clock: as dlprof saw it, else the last that the stream tells."""
        wall = self.manifest.process.wall_ns
        return self.who.origin_ns + wall if wall else self._stream.last_ns

    def _keras_facts(self, meta: dict[str, Any]) -> None:
        if "engine" in meta:
            self._note(engine=Engine(name=meta["engine"], version=meta.get("engine_version")))
        spec = registry.all_specs().get(self.manifest.backend.name or "")
        if "keras_version" in meta and (spec is None or spec.keras_backend):  # TensorFlow loads a Keras by itself
            keras = Keras(
                module=meta["keras"],
                version=meta["keras_version"],
                backend=meta["keras_backend"],
                engine_version=meta.get("engine_version"),
            )
            self._note(keras=keras)
            if self.manifest.backend.source != "managed":
                dispatch = engines.dispatch_under_keras(keras.backend, keras.version)
                self._note(
                    backend=structs.replace(
                        self.manifest.backend,
                        asynchronous_dispatch=dispatch.asynchronous,
                        input_inside_step=dispatch.input_inside_step,
                    )
                )

    def _phase_cost(self, stream: wire_reader.Stream) -> None:
        """What the phase probe cost: its own time at start and end, as measured, and each step's record."""
        own = sum((span.end or span.start) - span.start for span in stream.spans.values() if span.kind == "dlprof")
        probe = self.probes.setdefault("phases", {"name": "phases", "state": "on", "reason": None})
        steps = sum(step[4] for step in stream.steps)
        probe["cost_ns"] = own + steps * STEP_COST_NS
        probe["cost_source"] = (
            f"{own / 1e6:.0f} ms measured at start and end, {steps} steps at {STEP_COST_NS / 1e3:.1f} us"
        )

    def _cores(self, path: Path) -> None:
        tables, health, trailer = cores_reader.read(path, self.who)
        self.tables.update(tables)
        self.health.extend(health)
        cost = trailer.get("cost_cpu_ns")
        self._sidecar_cost("cores", cost, "measured: CPU time of the sampler (cores and GPU together)")

    def _gpu(self, path: Path) -> None:
        self.tables["gpu"], health, header = gpu_reader.read(path, self.who)
        self.health.extend(health)
        self._note(gpus=msgspec.convert(header.get("gpus"), tuple[Gpu, ...] | None))
        self._sidecar_cost("gpu", None, "in the sampler's, see cores")

    def _sidecar_cost(self, name: str, cost_ns: int | None, source: str) -> None:
        probe = self.probes.setdefault(name, {"name": name, "state": "on", "reason": None})
        probe.update({"cost_ns": cost_ns, "cost_source": source})

    def _lines(self, path: Path) -> None:
        self.tables["lines"] = lines_reader.read(path, self.who, self.names, self._source)

    def _source(self, file: str) -> Sequence[str]:
        """Lines of a source file, as it was when it ran: a copy is in the run folder."""
        for path in (self.folder.source_path(self.names.short(file)), Path(file)):
            try:
                return path.read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                continue
        return ()

    def _kernels(self) -> None:
        """Traces of the kernel windows; they need steps and phases."""
        folder = self.folder.raw / "kernels"
        if not folder.is_dir() and not gpu_tracers.files(self.folder.raw):
            return
        found = windows_reader.Windows(self.who, self.tables, self.manifest.clock)
        for path in sorted(folder.glob("window-[0-9][0-9][0-9].json")):
            self._reading(path, found.add)
        if (folder / "theano-profile.json").is_file():
            self._reading(folder / "theano-profile.json", found.add_theano)
        for path in gpu_tracers.files(self.folder.raw):
            self._reading(path, found.add_tool)
        self.tables.update(found.tables())
        self.health.extend(found.health)
        probe = self.probes.setdefault("kernels", {"name": "kernels", "state": "on", "reason": None})
        self._kernel_cost(probe)

    def _judge_kernels(self) -> None:
        """A process that was killed could not say what became of its windows."""
        probe, windows = self.probes.get("kernels"), self.tables.get("kernel_windows")
        if probe is not None and probe["state"] == "on" and (windows is None or not windows.num_rows):
            probe.update(state="unavailable", reason="the process ended before a kernel window was complete")

    def _kernel_cost(self, probe: dict[str, Any]) -> None:
        """Add what the tracer cost in the steps of its windows, against the plain steps around them."""
        windows, steps = self.tables["kernel_windows"], self.tables.get("steps")
        if steps is None or probe["state"] != "on":
            return
        asynchronous = self.manifest.backend.asynchronous_dispatch
        found = []
        for row in windows.to_pylist():
            if row["loop"] is None:
                continue
            times = step_times.compare(self.tables, row["window"], asynchronous=asynchronous)
            if times.plain_ns is None or times.slowdown is None:
                found.append(f"{row['steps']} traced {row['loop']} steps, with no plain ones to compare")
                continue
            extra = max(0, (times.window_ns - times.plain_ns) * row["steps"])
            probe["cost_ns"] = (probe.get("cost_ns") or 0) + extra
            found.append(f"{row['steps']} traced {row['loop']} steps at {times.slowdown:.2f} x a plain one")
        if found:
            probe["cost_source"] = "; ".join(["measured: switching on and off", *found])

    def _stacks(self, paths: Sequence[Path]) -> None:
        root = self.manifest.command.script if self.names.cells else None
        stacks = stacks_reader.Stacks(self.who, self.names, root)
        for path in paths:
            self._reading(path, lambda p: self.health.extend(stacks.add(p)))
        self.tables.update(stacks.tables())
        if stacks.error_ns is not None:
            self._note(clock=structs.replace(self.manifest.clock, stacks_error_ns=stacks.error_ns))

    def _phases(self) -> None:
        """Cut the wall time; without a stream, or a wall time, all of it is unattributed or unknown."""
        stream = self._stream
        wall = self._end_ns() - self.who.origin_ns
        if wall <= 0:
            return
        found = phase_analysis.of_main_thread(
            self.tables.get("spans"), self.tables.get("steps"), stream.meta.get("main_thread"), wall,
            stream.meta["boot_ns"] - self.who.origin_ns if "boot_ns" in stream.meta else None,
        )  # fmt: skip
        who = {"host": self.who.host, "rank": self.who.rank, "pid": self.who.pid}
        self.tables["phases"] = _rows_table(
            "phases",
            [{**who, "phase": p.name, "parent": p.parent, "dur_ns": p.dur_ns, "count": p.count} for p in found.phases],
        )
        self.tables["phase_intervals"] = _rows_table(
            "phase_intervals", [{**who, "phase": n, "start_ns": s, "dur_ns": d} for n, s, d in found.intervals]
        )


STEP_COST_NS = 1_600
"""What recording one step costs in the traced process (ns), by `python -m tests.benchmarks record`."""


def _rows_table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=TABLES[name])
