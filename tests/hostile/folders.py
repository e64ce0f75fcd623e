"""Makes run folders with a trick in them: links, pipes, devices, names that lead out, huge files, texts that steer."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from dlprof.store import seal
from tests.unit import runs
from tests.unit.export.run_of_everything import whole

CANARY = "canary-9f2c41d7"
"""Stands in every file outside: no output may hold it."""
STEERING = "\x1b]0;own\x07\x1b[31m\u202e<script>own()</script>\x9b2J"
_GIANT = 1 << 42

WHERE = (
    "manifest.json", "manifest.json.part", "report.html", "report.html.part", "index.html", "tables",
    "tables/tables.json", "tables/steps.parquet", "tables/steps.parquet.part", "tables/health.parquet", "tables.part", "tables.old", "raw", "raw/sources",
    "raw/sources/train.py", "raw/inproc.wire", "raw/inproc.status", "raw/marks.jsonl", "raw/lines.json",
    "raw/cores.jsonl", "raw/gpu.jsonl", "raw/stacks-000.json", "raw/stacks-000.json.gz", "raw/stacks-000.anchor.json",
    "raw/kernels", "raw/kernels/window-000.json", "raw/kernels/theano-profile.json", "raw/kernels/mx-graph-000.json",
    "raw/kernels/window-000/plugins/profile/x/h.xplane.pb", "raw/gpu", "raw/gpu/trace.sqlite", "confirm",
    "confirm/trials.json", "payload", "keras_home",
)  # fmt: skip
"""Names in a run folder that some command reads or writes, now or once."""


@dataclass(frozen=True)
class Trick:
    """Something that is done to a good run folder.

    Attributes:
        name: What it is.
        play: Does it: (run folder, folder outside).
        opens: It lies in the content of files: the folder itself is as folders are.
    """

    name: str
    play: Callable[[Path, Path], None]
    opens: bool = False


def outside(folder: Path) -> Path:
    """A folder of the victim's, with files that are of some use to each reader."""
    folder.mkdir()
    good = whole(folder / "run")
    (folder / "secret.txt").write_text(f"{CANARY}\nimport os\n")
    (folder / "secret.json").write_text(json.dumps({**runs.manifest(), "script_folder": CANARY}))
    steps = pq.read_table(good.folder.tables / "steps.parquet")
    pq.write_table(steps.set_column(0, "host", pa.array([CANARY] * steps.num_rows)), folder / "secret.parquet")
    shutil.rmtree(folder / "run")
    return folder


def good(folder: Path) -> Path:
    """A run with tables and raw artifacts."""
    told = {**runs.manifest(script_folder="/nowhere"), "tables_version": 1}
    whole(folder, told)
    raw = folder / "raw"
    (raw / "sources").mkdir()
    (raw / "sources" / "train.py").write_text("import keras\n\ndef train():\n    fit()\n")
    (raw / "kernels").mkdir()
    _lines(folder, "/nowhere/train.py")
    return folder


def _lines(run: Path, file: str) -> None:
    function = {"file": file, "function": "train", "first_line": 1, "lines": [[1, 2, 3000], [2, 1, 2000]]}
    content = {"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": [function]}
    (run / "raw" / "lines.json").write_text(json.dumps(content))


def _window(run: Path, file: str) -> None:
    content = {
        "engine": "tensorflow", "files": [file], "begin_ns": 2_000_000_000, "end_ns": 3_000_000_000, "loop": "fit",
        "loop_id": 1, "steps": 3, "start_cost_ns": 1, "stop_cost_ns": 1,
    }  # fmt: skip
    (run / "raw" / "kernels" / "window-000.json").write_text(json.dumps(content))


def _emptied(path: Path) -> Path:
    """A place for something else."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _target(place: str, victim: Path) -> Path:
    ending = Path(place).suffix
    if ending == "":
        return victim
    return victim / f"secret{ending if ending in ('.json', '.parquet') else '.txt'}"


def _kinds(place: str) -> Iterator[Trick]:
    """Everything that can be in a place."""

    def absolute(run: Path, victim: Path) -> None:
        _emptied(run / place).symlink_to(_target(place, victim))

    def relative(run: Path, victim: Path) -> None:
        path = _emptied(run / place)
        path.symlink_to(os.path.relpath(_target(place, victim), path.parent))

    def zero(run: Path, _victim: Path) -> None:
        _emptied(run / place).symlink_to("/dev/zero")

    def pipe(run: Path, _victim: Path) -> None:
        os.mkfifo(_emptied(run / place))

    def plug(run: Path, _victim: Path) -> None:
        path = _emptied(run / place)
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/cwd/{os.path.relpath(path)}")

    def folder(run: Path, _victim: Path) -> None:
        _emptied(run / place).mkdir()

    def loop(run: Path, _victim: Path) -> None:
        path = _emptied(run / place)
        path.symlink_to(path.name)

    unread = place.endswith(".part") or place in ("index.html", "payload", "keras_home", "raw/inproc.status")
    for play in (absolute, pipe) if unread else (absolute, relative, zero, pipe, plug, folder, loop):
        yield Trick(f"{play.__name__} at {place}", play)


def _named(victim: Path) -> list[str]:
    """Names that lead to a file outside, from somewhere in the run."""
    text = str(victim / "secret.txt")
    up = "../" * 12 + text.lstrip("/")
    return [text, f"/{text}", up, f"sources/{up}", f"~/{up}", f"./{up}", f"/nowhere/{up}"]


def _names() -> Iterator[Trick]:
    """Files that artifacts and tables speak of."""
    for number in range(7):

        def lines(run: Path, victim: Path, number: int = number) -> None:
            _lines(run, _named(victim)[number])

        def window(run: Path, victim: Path, number: int = number) -> None:
            _window(run, _named(victim)[number])

        def tables(run: Path, victim: Path, number: int = number) -> None:
            path = run / "tables" / "lines.parquet"
            rows = pq.read_table(path).to_pylist()
            changed = [{**row, "file": _named(victim)[number], "source": None} for row in rows]
            pq.write_table(pa.Table.from_pylist(changed, schema=TABLES["lines"]), path)
            seal.write(run / "tables")
            _change(run, tables_version=SCHEMA_VERSION)

        def script(run: Path, victim: Path, number: int = number) -> None:
            _change(run, script_folder=str(victim), command={"script": _named(victim)[number]})

        for play in (lines, window, tables, script):
            yield Trick(f"name {number} in {play.__name__}", play, opens=True)


def _change(run: Path, **changes: Any) -> None:
    path = run / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def _sizes() -> Iterator[Trick]:
    """Files without end, which take no room on the disk."""
    for place in ("manifest.json", "raw/lines.json", "raw/sources/train.py", "raw/kernels/window-000.json",
                  "raw/stacks-000.json", "raw/marks.jsonl", "confirm/trials.json"):  # fmt: skip

        def giant(run: Path, _victim: Path, place: str = place) -> None:
            with _emptied(run / place).open("wb") as out:
                out.truncate(_GIANT)

        yield Trick(f"giant {place}", giant)

    def deep(run: Path, _victim: Path) -> None:
        here = os.open(run / "raw", os.O_RDONLY | os.O_DIRECTORY)
        for _ in range(300):
            os.mkdir("d", dir_fd=here)
            inner = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = inner
        os.close(here)

    yield Trick("300 folders in folders", deep)


def _texts() -> Iterator[Trick]:
    """Control characters and markup in every text."""

    def told(run: Path, _victim: Path) -> None:
        path = run / "manifest.json"
        path.write_text(json.dumps(_steered(json.loads(path.read_text()))))

    def table(run: Path, _victim: Path) -> None:
        for path in (run / "tables").glob("*.parquet"):
            found = pq.read_table(path)
            for at, column in enumerate(found.schema):
                if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
                    found = found.set_column(at, column.name, pa.array([STEERING] * found.num_rows))
            pq.write_table(found, path)
        seal.write(run / "tables")
        _change(run, tables_version=SCHEMA_VERSION)

    def damaged(run: Path, _victim: Path) -> None:
        _change(run, state=STEERING, created=STEERING, process={"exit_code": STEERING})

    def unknown(run: Path, _victim: Path) -> None:
        pq.write_table(pa.table({STEERING: [1]}), run / "tables" / "steps.parquet")
        _change(run, tables_version=SCHEMA_VERSION)

    def swapped(run: Path, victim: Path) -> None:
        shutil.rmtree(run / "tables")
        (run / "tables.old").symlink_to(victim)

    yield Trick("a swap that was interrupted", swapped)
    for play in (told, table, damaged, unknown):
        yield Trick(f"texts: {play.__name__}", play, opens=True)


_KEPT = ("format", "created")


def _steered(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {one: _steered(inner, one) for one, inner in value.items()}
    if isinstance(value, list):
        return [_steered(inner) for inner in value]
    return STEERING if isinstance(value, str) and name not in _KEPT else value


def tricks() -> list[Trick]:
    """All of them."""
    return [*(trick for place in WHERE for trick in _kinds(place)), *_names(), *_sizes(), *_texts()]
