"""Reads the times of nodes that dlprof collected of OpenVINO (JSON): how long each took; when, it does not tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.scopes import LayerPass
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.packed import opened
from dlprof.schema.vocabulary import Direction, EventKind

FORMAT = "dlprof.openvino/1"


class _Node(NamedTuple):
    name: str
    op: str
    kernel: str
    dur_ns: int


class _Call(NamedTuple):
    begin_ns: int
    end_ns: int
    nodes: list[_Node]
    """In order of execution."""


class _File(msgspec.Struct):
    owner: dict[str, str]
    """Node to layer."""
    calls: list[_Call]


def claims(sample: Sample) -> bool:
    """Whether a file is one of ours on OpenVINO."""
    return sample.head.lstrip()[:80].startswith(b'{"format": "' + FORMAT.encode() + b'"')


def read(path: Path) -> FileContent:
    """The nodes of all calls, laid one behind the other from the begin of their call, in order of execution.

    Raises:
        ArtifactError: The file is damaged.
    """
    with opened(path) as source:
        text = source.read()
    try:
        content = msgspec.json.decode(text, type=_File)
    except msgspec.DecodeError as error:
        raise ArtifactError(f"damaged: {error}", path=path) from error
    trace = Trace(path, "openvino", "openvino", attribution="scope")
    lane = trace.lane(0, Lane(0, 0, "nodes in order"))
    trace.add_rows([row for call in content.calls for row in _rows(trace, call, lane, content.owner)])
    return FileContent.of(trace)


def _rows(trace: Trace, call: _Call, lane: int, owner: dict[str, str]) -> Iterator[EventRow]:
    at = call.begin_ns
    for node in call.nodes:
        dur = max(0, min(node.dur_ns, call.end_ns - at))
        name = trace.names.number(f"{node.op} {node.kernel}")
        scope = trace.scopes.number(LayerPass(_layer(node.name, owner), Direction.FORWARD))
        yield EventRow(EventKind.OPERATOR, name, at, dur, lane, scope=scope)
        at += dur


def _layer(node: str, owner: dict[str, str]) -> str | None:
    """The layer of a node; conversions that OpenVINO puts in are called after the nodes around them."""
    return owner.get(node) or next((layer for name, layer in owner.items() if node.endswith(f"_{name}")), None)


READER = Reader("openvino", "dlprof's own of OpenVINO (JSON)", claims, read)
