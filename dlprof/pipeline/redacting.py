"""A copy of a run for those who need not know where, by whom, and of what text it was made."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from dlprof import rundir, safe_files
from dlprof.errors import DlprofError
from dlprof.redaction import HIDDEN, Part, Redactor, users_in
from dlprof.rundir import RunDir, writing_into
from dlprof.schema import manifest_json
from dlprof.schema.manifest import Manifest
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import Severity
from dlprof.store import seal
from dlprof.store.run import Run
from dlprof.store.writer import RowWriter

_OURS = frozenset({"category", "direction", "kind", "loop", "parent", "phase", "severity", "slug", "state"})
"""Columns with words of dlprof's own: they stay, even where a machine has the name of a phase."""
_NO_PATHS = frozenset({"layer", "name", "op"})
"""Columns whose texts have slashes and are no paths."""
_SLUG = "redacted"


@dataclass(frozen=True)
class Redacted:
    """What became of a run.

    Attributes:
        folder: The copy.
        hidden: What was taken out.
        names: Names of machines and users that were taken out, with what stands there instead.
    """

    folder: RunDir
    hidden: tuple[Part, ...]
    names: dict[str, str]


def redact(run: Run, path: Path, hidden: tuple[Part, ...]) -> Redacted:
    """Write a copy of a run without some of its parts: manifest and tables, no raw artifacts.

    Args:
        run: The run.
        path: Folder of the copy.
        hidden: What is left out.

    Raises:
        CannotCreateError: The folder is not empty, or cannot be written to.
        DlprofError: A name is still in the copy; there is none then.
    """
    redactor = _redactor(run, hidden)
    rundir.refuse_full(path)
    folder = RunDir(path.absolute())
    with writing_into(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        rundir.make_private(path)
        rundir.make_private(folder.tables)
    try:
        for name in TABLES:
            _copy_table(run, folder, name, _Texts(redactor, hidden))
        _say_so(folder, run, hidden)
        if Part.SOURCE not in hidden:
            _copy_sources(run, folder)
        folder.write_manifest(_manifest(run.manifest, redactor, hidden))
        _check(Run(folder, folder.read_manifest()), redactor)
        seal.write(folder.tables)  # these are all: who opens the copy need not doubt that
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return Redacted(folder, hidden, dict(redactor.names))


def _redactor(run: Run, hidden: tuple[Part, ...]) -> Redactor:
    texts = [*_strings(run), msgspec.json.encode(run.manifest).decode()]
    hosts = {run.manifest.machine.host, *_hosts(run)} if Part.HOST in hidden else set()
    users = users_in([*texts, *_paths_of(run.manifest)]) if Part.USER in hidden else frozenset()
    return Redactor.of(hosts, users, paths=Part.PATHS in hidden)


def _paths_of(manifest: Manifest) -> Iterator[str]:
    yield manifest.script_folder
    yield from (value for value in manifest.config.values() if isinstance(value, str))


def _hosts(run: Run) -> Iterator[str]:
    for name, schema in TABLES.items():
        if "host" in schema.names:
            yield from _distinct(run, name, "host")


def _strings(run: Run) -> Iterator[str]:
    """Every distinct text of the tables."""
    for name, schema in TABLES.items():
        for column in _text_columns(schema):
            yield from _distinct(run, name, column)


def _distinct(run: Run, name: str, column: str) -> Iterator[str]:
    for piece in run.pieces(name):
        yield from (value for value in pc.unique(_plain(piece[column])).to_pylist() if value is not None)


def _text_columns(schema: pa.Schema) -> list[str]:
    texts = [one.name for one in schema if pa.types.is_string(one.type) or pa.types.is_dictionary(one.type)]
    return [name for name in texts if name not in _OURS]


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


@dataclass(frozen=True)
class _Texts:
    """What becomes of the texts of a column."""

    redactor: Redactor
    hidden: tuple[Part, ...]

    def of(self, table: str, column: str) -> Callable[[str], str | None]:
        if (table, column) == ("lines", "source") and Part.SOURCE in self.hidden:
            return lambda _text: None
        if (table, column) == ("processes", "command") and Part.ARGUMENTS in self.hidden:
            return self._program
        return self.redactor.name if column in _NO_PATHS else self.redactor.text

    def _program(self, command: str) -> str:
        program, _, arguments = command.partition(" ")
        return self.redactor.text(program) + (f" {HIDDEN}" if arguments else "")


def _copy_table(run: Run, folder: RunDir, name: str, texts: _Texts) -> None:
    rows = RowWriter(folder.tables, name)
    for piece in run.pieces(name):
        for column in _text_columns(TABLES[name]):
            place = piece.schema.get_field_index(column)
            piece = piece.set_column(place, piece.schema.field(place), _mapped(piece[column], texts.of(name, column)))  # noqa: PLW2901
        rows.write(piece)
    rows.close()


def _mapped(column: pa.ChunkedArray, change: Callable[[str], str | None]) -> pa.Array:
    """A column with each distinct text replaced once."""
    coded = pc.dictionary_encode(_plain(column).combine_chunks())
    values = [change(value) for value in coded.dictionary.to_pylist()]
    return pa.array(values, pa.string()).take(coded.indices).cast(column.type)


def _say_so(folder: RunDir, run: Run, hidden: tuple[Part, ...]) -> None:
    """A line of the health section says what is not there."""
    said = {
        "slug": _SLUG,
        "severity": Severity.INFO,
        "message": f"Taken out of this copy: {', '.join(hidden)}.",
        "count": None,
    }
    there = Run(folder, run.manifest).table("health")
    rows = RowWriter(folder.tables, "health")
    rows.write(pa.concat_tables([there, pa.Table.from_pylist([said], schema=TABLES["health"])]))
    rows.close()


def _copy_sources(run: Run, folder: RunDir) -> None:
    with writing_into(folder.path):
        for source in sorted((run.folder.raw / "sources").rglob("*")):
            name = source.relative_to(run.folder.path).as_posix()
            if safe_files.is_file(run.folder.path, name):
                content = safe_files.read(run.folder.path, name)
                safe_files.write(folder.path, name, content, source.stat().st_mode & 0o666)


def _manifest(told: Manifest, redactor: Redactor, hidden: tuple[Part, ...]) -> Manifest:
    """The manifest with every text in it redacted, but names of packages and their versions."""
    plain = manifest_json.as_builtins(told)
    kept = {name: plain[name] for name in ("format", "packages", "state", "created", "recorded")}
    texts = {name: kept.get(name, _redacted(value, redactor)) for name, value in plain.items()}
    changed = replace(msgspec.convert(texts, Manifest), seal=None)
    if Part.PATHS in hidden:
        changed = replace(changed, script_folder="")
    if Part.HOST in hidden and changed.gpus:
        changed = replace(changed, gpus=tuple(replace(gpu, uuid=None) for gpu in changed.gpus))
    if Part.ARGUMENTS in hidden and changed.command.argv:
        changed = replace(changed, command=replace(changed.command, argv=(HIDDEN,), masked=True))
    return changed


def _redacted(value: object, redactor: Redactor) -> object:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, dict):
        return {redactor.text(str(name)): _redacted(one, redactor) for name, one in value.items()}
    return [_redacted(one, redactor) for one in value] if isinstance(value, list) else value


def _check(run: Run, redactor: Redactor) -> None:
    """See that no name is left: what is sent away cannot be taken back."""
    for text in (*_strings(run), run.folder.manifest_path.read_text(encoding="utf-8")):
        left = redactor.left_in(text)
        if left:
            raise DlprofError(f"A name of a machine or a user is still in the copy, in: {text[:80]}")
