"""Reads what `python -X importtime` prints: own time of each module, and with what it imports."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.trace import OperatorSum, Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.text_files import text_lines, whole_in
from dlprof.schema.vocabulary import EventKind

_HEAD = re.compile(r"^import time: +self \[us\] \| +cumulative \| imported package\r?$", re.MULTILINE)
_ROW = re.compile(r"import time: +([0-9]+) \| +([0-9]+) \|( +)(\S.*)")
_TOLD_AT_MOST = 20


def claims(sample: Sample) -> bool:
    """Whether the head of such a table is among the first lines: what the program prints may stand around it."""
    return _HEAD.search(sample.text) is not None


def read(path: Path) -> FileContent:
    """The modules as sums: own time, and how often they were imported, as by several processes.

    Raises:
        ArtifactError: There is no module in it, or it is damaged.
    """
    own: dict[str, tuple[int, int]] = {}
    first: dict[str, int] = {}
    others = 0
    for number, line in text_lines(path):
        row = _ROW.fullmatch(line)
        if row is None:
            others += not _HEAD.fullmatch(line)
            continue
        try:
            self_ns, whole_ns, module = whole_in(row[1]) * 1000, whole_in(row[2]) * 1000, row[4]
        except ValueError as error:
            raise ArtifactError(f"line {number}: {error}", path=path) from error
        if module not in own:
            budget().hold_texts(3, len(module), "modules")
        times, spent = own.get(module, (0, 0))
        own[module] = times + 1, spent + self_ns
        if len(row[3]) == 1:  # nothing that was being imported asked for it
            first[module] = first.get(module, 0) + whole_ns
    if not own:
        raise ArtifactError("there is no module in it", path=path)
    sums = [OperatorSum(EventKind.OPERATOR, module, CPU, *counted, tells_work=False) for module, counted in own.items()]
    trace = Trace(path, "importtime", "python", sums=sums, facts=_facts(own, first))
    trace.skip("lines", others, "what the program printed, and no row of the table")
    return FileContent.of(trace)


def _facts(own: dict[str, tuple[int, int]], first: dict[str, int]) -> dict[str, Any]:
    longest = sorted(first.items(), key=lambda one: -one[1])[:_TOLD_AT_MOST]
    return {
        "modules": len(own),
        "imports_ns": sum(first.values()),
        "own_with_callees": [{"function": module, "total_ns": ns} for module, ns in longest],
    }


READER = Reader("importtime", "python -X importtime", claims, read)
