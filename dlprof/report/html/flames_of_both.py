"""The difference of two runs' flame graphs: their frames as one tree, each with its time on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dlprof.analysis import samples
from dlprof.analysis.stacks import Frame, shown_name
from dlprof.report.html.flames import LEAST, Stack, outermost_first, stacks_of
from dlprof.report.html.names import cut
from dlprof.store.run import Run

_Key = tuple[str, str]
"""Function and file: its lines may have moved between the runs."""


@dataclass
class Node:
    """A frame below those that called it; time with all that it called, on both sides (ns)."""

    frame: Frame | None = None
    ns: list[int] = field(default_factory=lambda: [0, 0])
    inner: dict[_Key, Node] = field(default_factory=dict)


def of_runs(a: Run, b: Run) -> list[dict[str, Any]]:
    """A tree for each phase and kind of thread that was sampled on a side; none where a side has no stacks.

    Each is `{"phase", "thread", "a_ns", "b_ns", "nodes": [[depth, a ns, b ns, function, file, line, is_user]]}` with
    the outermost frame first, then what it called; those that differ most come first.

    Args:
        a: The first run of one side.
        b: Of the other.
    """
    sides = [stacks_of(run, samples.by_phase(run)) for run in (a, b)]
    if not all(sides):
        return []
    users = samples.user_files(a) | samples.user_files(b)
    order = sorted(_trees(sides).items(), key=lambda item: (not item[0][1], -abs(item[1].ns[0] - item[1].ns[1])))
    return [
        {
            "phase": phase.replace("/", "."),
            "thread": "main" if main else "other",
            "a_ns": root.ns[0],
            "b_ns": root.ns[1],
            "nodes": [_told(depth, node, users) for depth, node in _walk(root)],
        }
        for (phase, main), root in order
    ]


def _trees(sides: Sequence[Sequence[Stack]]) -> dict[tuple[str, bool], Node]:
    roots: dict[tuple[str, bool], Node] = {}
    for side, stacks in enumerate(sides):
        for stack in stacks:
            node = roots.setdefault((stack.phase, stack.main), Node())
            node.ns[side] += stack.ns
            for frame in outermost_first(stack.frames):
                node = node.inner.setdefault((frame.function, frame.file), Node(frame))
                node.ns[side] += stack.ns
    return roots


def _walk(root: Node) -> Iterator[tuple[int, Node]]:
    """Depth and node of all frames that can be seen on a side, each before what it called."""
    least = [LEAST * ns for ns in root.ns]
    left = [(-1, root)]
    while left:
        depth, node = left.pop()
        if node.frame is not None:
            yield depth, node
        seen = (one for one in node.inner.values() if any(0 < ns >= low for ns, low in zip(one.ns, least, strict=True)))
        left.extend((depth + 1, one) for one in sorted(seen, key=lambda one: max(one.ns)))


def _told(depth: int, node: Node, users: set[str]) -> list[Any]:
    function, file, line = node.frame or ("", "", 0)
    return [depth, *node.ns, cut(shown_name(function, file)), cut(file), line, int(file in users)]
