"""What mutations begin with: small files of every format, real ones where `tests/data` has some."""

from __future__ import annotations

import gzip
import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dlprof.ingest.formats import registry
from tests.fuzz import literals

DATA = Path(__file__).parents[1] / "data" / "traces"
SIZE_AT_MOST = 12_000
"""A mutation of a larger file takes long, and finds nothing more."""
_EVENTS_AT_MOST = 20


@dataclass(frozen=True)
class Seed:
    """A file of a format.

    Attributes:
        reader: Name of the reader that takes it.
        name: What it is called here.
        content: Its bytes, unpacked.
        suffix: How its name ends, where that matters.
    """

    reader: str
    name: str
    content: bytes
    suffix: str = ""


@cache
def seeds() -> Sequence[Seed]:
    """All seeds, told by the readers themselves."""
    found = []
    with tempfile.TemporaryDirectory(prefix="dlprof-seeds-") as folder:
        for name, content in (*_of_data(), *_made(Path(folder))):
            suffix = ".xplane.pb" if ".xplane.pb" in name else ""
            path = Path(folder, f"seed{suffix}")
            path.write_bytes(content)
            found.append(Seed(registry.find(path).name, name, content, suffix))
    return tuple(found)


def of(reader: str) -> Sequence[Seed]:
    """The seeds of a reader."""
    return [seed for seed in seeds() if seed.reader == reader]


def _of_data() -> Iterator[tuple[str, bytes]]:
    for path in sorted(DATA.iterdir()):
        if path.suffix != ".md":
            content = path.read_bytes()
            content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
            yield path.name, _shortened(path.name, content)


def _shortened(name: str, content: bytes) -> bytes:
    """The same with fewer events, where it is large: first ones, and those from the middle, of every category."""
    if len(content) <= SIZE_AT_MOST:
        return content
    if ".json" in name:
        told = json.loads(content)
        if "profiles" in told:
            for profile in told["profiles"]:
                profile["samples"], profile["weights"] = profile["samples"][:50], profile["weights"][:50]
            return json.dumps(told).encode()
        top = told if isinstance(told, dict) else {}
        key = "traceEvents" if "traceEvents" in top else None
        if key is None and not isinstance(told, list):
            return content
        events = told[key] if key else told
        few = {json.dumps([event.get("ph"), event.get("cat")]): event for event in events}
        chosen = [*few.values(), *events[:_EVENTS_AT_MOST], *events[len(events) // 2 :][:_EVENTS_AT_MOST]]
        return json.dumps({**top, key: chosen} if key else chosen).encode()
    return content


def _made(folder: Path) -> Iterator[tuple[str, bytes]]:
    yield from ((name, json.dumps(value).encode()) for name, value in literals.JSON.items())
    yield from ((name, text.encode()) for name, text in literals.TEXTS.items())
    yield from literals.BYTES.items()
    for name, script in literals.DATABASES.items():
        yield name, _database(folder / f"{name}.db", script)


def _database(path: Path, script: str) -> bytes:
    # Small pages: a mutation should meet rows, not empty space.
    with sqlite3.connect(path) as database:
        database.executescript(f"PRAGMA page_size = 512; VACUUM; {script}")
    database.close()
    return path.read_bytes()
