"""A traced run while its tables are made: what is known of it so far, and what its artifacts add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from dlprof import safe_files
from dlprof.ingest.artifact import ArtifactError, Health, NothingRecordedError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own.wire_stream import Stream
from dlprof.launch.recorded import ProbeStates
from dlprof.pipeline.probe_ends import Cut
from dlprof.pipeline.run_tables import RunTables
from dlprof.rundir import SOURCE_MOST, RunDir
from dlprof.schema.manifest import Manifest


class Workspace:
    """What the steps of an ingest share.

    Args:
        folder: The run folder.
        manifest: As it was before.
        fresh: See below.
        tables: Folder in which large tables are written while they are made; None: they stay in memory.

    Attributes:
        folder: The run folder.
        fresh: It has just been made by this process: files that its artifacts name may be read. Those of any other
            run may name whatever a stranger likes to see.
        manifest: As far as it is known.
        tables: Those that are made.
        probes: What became of each probe.
        process: The traced process.
        names: Names of files in the tables.
        stream: What the in-process probe told; empty until it is read.
        cuts: Probes whose artifacts are not whole, and how so.
    """

    def __init__(self, folder: RunDir, manifest: Manifest, *, fresh: bool = False, tables: Path | None = None) -> None:
        self.folder = folder
        self.fresh = fresh
        self.manifest = manifest
        told = (Health(line.slug, line.severity, line.message, line.count) for line in manifest.health)
        self.tables = RunTables(told, tables)
        self.probes = ProbeStates({probe.name: probe for probe in manifest.probes})
        rank = manifest.rank.rank if manifest.rank is not None else 0
        self.process = ProcessId(manifest.machine.host, rank, manifest.process.pid or 0, manifest.clock.origin_perf_ns)
        self.names = FileNames(manifest.script_folder, manifest.cells)
        self.stream = Stream()
        self.cuts: dict[str, Cut] = {}

    def note(self, **changes: Any) -> None:
        """Add to the manifest what an artifact tells: fields of `Manifest`."""
        self.manifest = structs.replace(self.manifest, **changes)

    def warn(self, slug: str, severity: str, message: str, count: int | None = None) -> None:
        """Add a line to the health section."""
        self.tables.health.append(Health(slug, severity, message, count))

    def cut(self, probe: str, cut: Cut) -> None:
        """An artifact of a probe is not whole; the first that is found tells why."""
        self.cuts.setdefault(probe, cut)

    def source(self, short: str) -> Sequence[str]:
        """Lines of a source file as it was when it ran, by its name in the tables; none where it cannot be read."""
        kept = self.folder.source_lines(short)
        if kept or not self.fresh:
            return kept
        try:
            original = Path(self.names.originals.get(short, short)).resolve()
            return safe_files.read_path(original, SOURCE_MOST).decode("utf-8", errors="replace").splitlines()
        except (OSError, ValueError):
            return ()

    def read(self, path: Path, reader: Callable[[Path], None], probe: str | None = None) -> None:
        """Read an artifact, if it is there; one that cannot be read is told, no more.

        Args:
            path: The file.
            reader: Takes it in.
            probe: Whose it is: that is told as the end of this probe. None: as a line of the health section.
        """
        if not safe_files.is_file(path.parent, path.name):
            return
        try:
            reader(path)
        except NothingRecordedError:
            self._lost(probe, f"{path.name} holds nothing", Cut(None))
        except ArtifactError as error:
            self._lost(probe, error.message, Cut(f"raw/{error.message}", is_damage=True))
        except Exception as error:  # noqa: BLE001  (whatever one artifact holds, the others are read)
            text = f"{path.name} holds what makes no sense ({type(error).__name__}: {error})"
            self._lost(probe, text, Cut(f"raw/{text}", is_damage=True))

    def _lost(self, probe: str | None, text: str, cut: Cut) -> None:
        if probe is None:
            self.warn("artifact-damaged", "error", f"{text}.")
        else:
            self.cut(probe, cut)

    def attempt(self, failed: str, part: Callable[[], None]) -> None:
        """Do a part of the work; if it cannot be done that is a line of the health section, which begins so."""
        try:
            part()
        except ArtifactError as error:
            self.warn("artifact-damaged", "error", f"{error.message}.")
        except Exception as error:  # noqa: BLE001  (what is odd in one artifact must not cost the user the run)
            self.warn("reader-failed", "error", f"{failed}: {type(error).__name__}: {error}.")

    @property
    def end_ns(self) -> int:
        """End of the process on its clock: as dlprof saw it, else the last that the stream tells (ns)."""
        wall = self.manifest.process.wall_ns
        return self.process.origin_ns + wall if wall else self.stream.last_ns
