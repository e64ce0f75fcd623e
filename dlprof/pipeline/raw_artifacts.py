"""Which raw artifacts a run has, and which of those that its tables were made of it has no longer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dlprof.rundir import RunDir
from dlprof.store.seal import Seal

_PACKED = ".gz"
_NO_ARTIFACTS = ("inproc.status", "sampler.json", "sampler-config.json")
"""Files of the probes among themselves."""
_OF_TABLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "spans": ("inproc.wire", "marks.jsonl"),
        "steps": ("inproc.wire", "marks.jsonl"),
        "cores": ("cores.jsonl",),
        "gpu": ("gpu.jsonl",),
        "stacks": ("stacks-[0-9][0-9][0-9].json", "stacks-[0-9][0-9][0-9].json.gz"),
        "lines": ("lines.json", "stacks-[0-9][0-9][0-9].json", "stacks-[0-9][0-9][0-9].json.gz"),
        "kernel_windows": ("kernels/*", "gpu/*"),
    }
)
"""Of which artifacts some tables are made: one of them must be there. For tables that do not say it themselves."""


def sizes(folder: RunDir) -> dict[str, int]:
    """The raw artifacts of a run by their names below `raw/`, packed ones by their names before, to their sizes."""
    raw = folder.raw
    found = {}
    for path in sorted(raw.rglob("*")):
        name = path.relative_to(raw).as_posix()
        if path.is_file() and not path.is_symlink() and not name.startswith("sources/") and name not in _NO_ARTIFACTS:
            found[name] = path.stat().st_size
    return found


def gone(folder: RunDir, seal: Seal | None) -> list[str]:
    """Artifacts that the tables of a run were made of, and that are no longer there, or no longer whole."""
    return _gone_since(folder, seal) if seal is not None else _gone_for_tables(folder)


def _gone_since(folder: RunDir, seal: Seal) -> list[str]:
    there = sizes(folder)
    return [name for name, size in seal.made_of.items() if not _is_there(name, size, there)]


def _is_there(name: str, size: int, there: Mapping[str, int]) -> bool:
    packed = f"{name}{_PACKED}" if not name.endswith(_PACKED) else name.removesuffix(_PACKED)
    return there.get(name, -1) >= size or packed in there


def _gone_for_tables(folder: RunDir) -> list[str]:
    """What the tables that are there must have been made of."""
    tables = {path.stem for path in folder.tables.glob("*.parquet")}
    return [
        patterns[0].replace("[0-9][0-9][0-9]", "NNN")
        for table, patterns in _OF_TABLE.items()
        if table in tables and not any(any(folder.raw.glob(pattern)) for pattern in patterns)
    ]


def any_left(folder: RunDir) -> bool:
    """Whether there is anything that tables can be made of."""
    return bool(sizes(folder))


def named(names: list[str]) -> str:
    """Artifacts for a sentence, with their verb: `raw/inproc.wire and 3 more are`."""
    more = f" and {len(names) - 1} more are" if len(names) > 1 else " is"
    return f"raw/{names[0]}{more}"
