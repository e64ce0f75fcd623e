"""Reads the times of nodes that dlprof collected of OpenVINO (JSON): how long each took; when, it does not tell."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.scopes import LayerPass
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.packed import whole
from dlprof.ingest.parse.text_files import NS_AT_MOST
from dlprof.schema.vocabulary import Direction, EventKind

FORMAT = "dlprof.openvino/1"
_BATCH = 50_000
_NAME_AT_MOST = 4096
"""So long a tail of a name is looked for among the names of nodes."""


_Time = Annotated[int, msgspec.Meta(ge=0, le=NS_AT_MOST)]


class _Node(NamedTuple):
    name: str
    op: str
    kernel: str
    dur_ns: _Time


class _Call(NamedTuple):
    begin_ns: _Time
    end_ns: _Time
    nodes: list[_Node]
    """In order of execution."""


class _File(msgspec.Struct):
    owner: dict[str, str]
    """Node to layer."""
    calls: list[msgspec.Raw]
    """Decoded one by one: their nodes take many times as much memory as their text."""


def claims(sample: Sample) -> bool:
    """Whether a file is one of ours on OpenVINO."""
    return sample.head.lstrip()[:80].startswith(b'{"format": "' + FORMAT.encode() + b'"')


def read(path: Path) -> FileContent:
    """The nodes of all calls, laid one behind the other from the begin of their call, in order of execution.

    Raises:
        ArtifactError: The file is damaged.
    """
    trace = Trace(path, "openvino", "openvino", attribution="scope")
    lane = trace.lane(0, Lane(0, 0, "nodes in order"))
    try:
        content = msgspec.json.decode(whole(path), type=_File)
        owners = _Owners(content.owner)
        rows: list[EventRow] = []
        for raw in content.calls:
            rows += _rows(trace, msgspec.json.decode(raw, type=_Call), lane, owners)
            if len(rows) >= _BATCH:
                trace.add_rows(rows)
                rows.clear()
        trace.add_rows(rows)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ArtifactError(f"damaged: {error}", path=path) from error
    return FileContent.of(trace)


def _rows(trace: Trace, call: _Call, lane: int, owners: _Owners) -> Iterator[EventRow]:
    at = call.begin_ns
    for node in call.nodes:
        dur = max(0, min(node.dur_ns, call.end_ns - at))
        name = trace.names.number(f"{node.op} {node.kernel}")
        scope = trace.scopes.number(LayerPass(owners.layer(node.name), Direction.FORWARD))
        yield EventRow(EventKind.OPERATOR, name, at, dur, lane, scope=scope)
        at += dur


class _Owners:
    """Whose the nodes are.

    Args:
        owner: Node to layer.
    """

    def __init__(self, owner: dict[str, str]) -> None:
        self._owner = owner
        self._known: dict[str, str | None] = {}

    def layer(self, node: str) -> str | None:
        """The layer of a node; conversions that OpenVINO puts in are called after the nodes around them."""
        if node not in self._known:
            budget().name(node)
            self._known[node] = self._owner.get(node) or self._called_after(node)
        return self._known[node]

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each name stands: of several that fit, the first one is meant."""
        return {name: place for place, name in enumerate(self._owner)}

    @cached_property
    def _layers(self) -> list[str]:
        return list(self._owner.values())

    def _called_after(self, node: str) -> str | None:
        """The layer of the node whose name this one ends with, behind an underscore."""
        tails = (node[at + 1 :] for at in range(max(0, len(node) - _NAME_AT_MOST), len(node)) if node[at] == "_")
        found = min((place for tail in tails if (place := self._places.get(tail)) is not None), default=None)
        return None if found is None else self._layers[found]


READER = Reader("openvino", "dlprof's own of OpenVINO (JSON)", claims, read)
