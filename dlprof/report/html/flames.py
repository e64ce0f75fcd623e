"""Flame graphs: the sampled stacks of each phase as a tree of frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dlprof.analysis import samples
from dlprof.analysis.samples import Sample
from dlprof.analysis.stacks import Frame, frames_by_stack, package, shown_name
from dlprof.analysis.timeline.threads import titles
from dlprof.report import colours
from dlprof.report.html.names import cut
from dlprof.store.run import Run

LEAST = 0.002
"""Frames with less than this share of their phase cannot be seen, and are left out."""
_DEEPEST = 120


@dataclass
class Node:
    """A frame below the frames that called it; time with all that it called (ns)."""

    frame: Frame | None = None
    ns: int = 0
    inner: dict[Frame, Node] = field(default_factory=dict)


def of_run(run: Run, sampled: Sequence[Sample]) -> list[dict[str, Any]]:
    """A flame graph for each phase and kind of thread that was sampled, those with most time first.

    A run of foreign traces has no phases: there each thread has one. Each is `{"phase", "thread": "main" or "other",
    "ns", "nodes": [[depth, begin, ns, function, file, line, is_user]]}` with the outermost frame first; `begin` and
    `ns` in ns of the phase's sampled time.

    Args:
        run: The run.
        sampled: Its stacks, cut by phase (`samples.of_run`).
    """
    users = samples.user_files(run)
    roots: dict[tuple[str, bool], Node] = {}
    for stack in stacks_of(run, sampled):
        _add(roots.setdefault((stack.phase, stack.main), Node()), stack)
    order = sorted(roots.items(), key=lambda item: (not item[0][1], -item[1].ns))
    return [
        {
            "phase": phase.replace("/", "."),
            "thread": "main" if main else "other",
            "ns": root.ns,
            "nodes": [_told(depth, begin, node, users) for depth, begin, node in _walk(root, root.ns)],
        }
        for (phase, main), root in order
    ]


class Stack(NamedTuple):
    """A stack that was seen.

    Attributes:
        phase: The phase then; of a run of foreign traces the thread.
        main: Whether it is of the main thread.
        ns: For how long it was seen, by the samples.
        frames: Innermost first.
    """

    phase: str
    main: bool
    ns: int
    frames: tuple[Frame, ...]


def stacks_of(run: Run, sampled: Sequence[Sample]) -> list[Stack]:
    """The stacks of a run by phase; of a run of foreign traces, which has no phases, by thread."""
    return _by_phase(sampled) or _by_thread(run)


def _by_phase(sampled: Sequence[Sample]) -> list[Stack]:
    return [Stack(sample.phase, sample.main, sample.dur_ns, sample.frames) for sample in sampled]


def _by_thread(run: Run) -> list[Stack]:
    title, frames = titles(run, "stacks"), frames_by_stack(run)
    times: dict[tuple[str, int], int] = {}
    for piece in run.pieces("stacks", ("pid", "thread_id", "thread", "stack_id", "dur_ns")):
        rows = piece.group_by(["pid", "thread_id", "thread", "stack_id"], use_threads=False)
        for row in rows.aggregate([("dur_ns", "sum")]).to_pylist():
            key = title[row["pid"], row["thread_id"], row["thread"]], row["stack_id"]
            times[key] = times.get(key, 0) + row["dur_ns_sum"]
    return [Stack(name, True, ns, frames[stack]) for (name, stack), ns in times.items() if frames.get(stack)]


def _add(root: Node, stack: Stack) -> None:
    root.ns += stack.ns
    node = root
    for frame in outermost_first(stack.frames):
        node = node.inner.setdefault(frame, Node(frame))
        node.ns += stack.ns


def outermost_first(frames: tuple[Frame, ...]) -> Iterable[Frame]:
    """Frames as a flame graph has them, down to a depth that can be seen."""
    return reversed(frames[-_DEEPEST:])


def _walk(root: Node, whole: int) -> Iterator[tuple[int, int, Node]]:
    """(depth, begin, node) of all frames that can be seen."""
    left: list[tuple[int, int, Node]] = [(-1, 0, root)]
    while left:
        depth, begin, node = left.pop()
        if node.frame is not None:
            yield depth, begin, node
        at, children = begin, []
        for child in sorted(node.inner.values(), key=lambda one: -one.ns):
            if child.ns >= LEAST * whole:
                children.append((depth + 1, at, child))
            at += child.ns
        left.extend(reversed(children))


def _told(depth: int, begin: int, node: Node, users: set[str]) -> list[Any]:
    function, file, line = node.frame or ("", "", 0)
    return [depth, begin, node.ns, cut(shown_name(function, file)), cut(file), line, int(file in users)]


def package_colours(found: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The colour of each package that stands in flame graphs, by its name."""
    names = {package(node[4]) for flame in found for node in flame["nodes"] if not node[6]}
    return {name: colours.of_package(name) for name in sorted(names)}
