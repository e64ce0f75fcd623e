"""Short lists: probes, formats of traces, measures of benchmarks, and JSON schemas."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from dlprof import config
from dlprof.bench.measures import MEASURES
from dlprof.ingest.formats.registry import READERS
from reference_pages import markdown as md
from reference_pages import source

PROBE_FILES = {
    "phases": source.PROBES / "inproc" / "hooks" / "__init__.py",
    "lines": source.PROBES / "inproc" / "lines.py",
    "stacks": source.PROBES / "sidecar" / "stacks.py",
    "kernels": source.PROBES / "inproc" / "kernels" / "windows.py",
    "cores": source.PROBES / "sidecar" / "cores.py",
    "gpu": source.PROBES / "sidecar" / "gpu.py",
}
"""Probe to the file in which it is."""
_SCHEMA = re.compile(r"dlprof\.\w+/\d+")


def probes() -> str:
    """The page of probes."""
    rows = [
        (md.code(name), md.prose(source.said(PROBE_FILES[name])), _place(PROBE_FILES[name])) for name in config.PROBES
    ]
    return md.page(
        "Probes",
        "`--probes` takes `all`, `none`, names, or names with a minus to leave them out: `--probes=-lines,-stacks`. "
        "What each costs is measured in [What dlprof costs](../../overhead.md), and told of each run in its report.",
        md.table(("probe", "what it does", "source"), rows),
    )


def readers() -> str:
    """The page of formats."""
    rows = []
    for reader in READERS:
        path = Path(reader.read.__code__.co_filename)
        gives = source.said(path, reader.read.__name__)
        rows.append((md.code(reader.name), md.plain(reader.title), md.prose(gives), _place(path)))
    return md.page(
        "Formats that dlprof imports",
        "`dlprof import FILE...` asks these readers in this order whether a file is theirs, by its content; `--format "
        "NAME` forces one. What each format gives is told in [Foreign traces](../../importing.md).",
        md.table(("format", "files", "reader", "source"), rows),
    )


def measures() -> str:
    """The page of measures."""
    rows = [(md.code(name), md.plain(text)) for name, text in MEASURES.items()]
    return md.page(
        "Measures of a benchmark",
        "What `dlprof bench` tells of each pair of work and backend: the median over its runs, with a 95 % interval. "
        "See [Benchmarks](../../bench.md).",
        md.table(("measure", "means"), rows),
    )


def schemas() -> str:
    """The page of JSON schemas."""
    rows = [(md.code(name), ", ".join(_place(path) for path in paths)) for name, paths in schema_names().items()]
    return md.page(
        "JSON schemas",
        "Every JSON object of dlprof names its schema and version. The fields of those that commands print are told in "
        "[JSON](../../json.md); those of `rundir.py` and `ingest` are files of [the run folder](../../run-folder.md).",
        md.table(("schema", "source"), rows),
    )


def schema_names() -> dict[str, list[Path]]:
    """Schemas that the code names, and the files that do."""
    found: dict[str, list[Path]] = {}
    for path in source.files(source.DLPROF):
        for node in ast.walk(source.tree(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _SCHEMA.fullmatch(node.value):
                found.setdefault(node.value, []).append(path)
    return dict(sorted(found.items()))


def _place(path: Path) -> str:
    return md.code(str(path.relative_to(source.ROOT)))
