"""Reads the times of nodes that dlprof collected of OpenVINO (JSON): how long each took; when, it does not tell."""

from __future__ import annotations

from pathlib import Path

import msgspec

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.registry import Sample
from dlprof.ingest.kernels.trace import CPU, Foreign, Kind, Lane, Trace
from dlprof.ingest.parse.chrome import opened

FORMAT = "dlprof.openvino/1"


class _File(msgspec.Struct):
    owner: dict[str, str]
    calls: list[tuple[int, int, list[tuple[str, str, str, int]]]]
    """Begin and end of each call, and its nodes: name, type, kernel, time (ns)."""


def claims(sample: Sample) -> bool:
    """Whether a file is one of ours on OpenVINO."""
    return sample.head.lstrip()[:80].startswith(b'{"format": "' + FORMAT.encode() + b'"')


def read(path: Path) -> Foreign:
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
    trace = Trace(path, "openvino", "openvino")
    lane = trace.lane(0, Lane(0, 0, "nodes in order"))
    found: dict[str, list[int]] = {name: [] for name in ("kind", "name", "start", "dur", "device", "lane", "scope")}
    for begin, end, nodes in content.calls:
        at = begin
        for name, op, kernel, spent in nodes:
            dur = max(0, min(spent, end - at))
            found["kind"].append(Kind.OPERATOR)
            found["name"].append(trace.names.number(f"{op} {kernel}"))
            found["start"].append(at)
            found["dur"].append(dur)
            found["device"].append(CPU)
            found["lane"].append(lane)
            found["scope"].append(trace.scopes.number(f"{_layer(name, content.owner)}\tforward"))
            at += dur
    trace.add(**found)
    return Foreign("openvino", trace, facts=trace.facts, health=trace.health)


def _layer(node: str, owner: dict[str, str]) -> str:
    """The layer of a node; conversions that OpenVINO puts in are called after the nodes around them."""
    return owner.get(node) or next((layer for name, layer in owner.items() if node.endswith(f"_{name}")), "")
