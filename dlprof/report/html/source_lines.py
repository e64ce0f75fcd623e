"""The user's source, line by line, with what was measured of each line: counted, sampled, and its layers' kernels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.samples import Sample
from dlprof.schema.vocabulary import LineSource
from dlprof.store.run import Run

_LONGEST = 400
"""Characters of a line that a page shows."""
Place = tuple[str, int]


@dataclass(frozen=True)
class SourceLine:
    """A line. None: not measured there.

    Attributes:
        number: From 1 on.
        text: As it was when it ran.
        hits: How often it ran.
        time_ns: Time in it, with what it calls, as counted.
        sampled_ns: Time for which threads stood in it, or in what it calls, by the samples.
        kernels_ns: Time of the kernels of the layers that were made in this line, in all steps.
        layers: Names of these layers.
        first_line: Where the function begins in which it was counted.
        is_scaled: Whether its hits are an estimate: it was counted in windows.
    """

    number: int
    text: str
    hits: int | None
    time_ns: int | None
    sampled_ns: int | None
    kernels_ns: int | None
    layers: tuple[str, ...]
    first_line: int | None = None
    is_scaled: bool = False


@dataclass(frozen=True)
class SourceFile:
    """A file of the user's.

    Attributes:
        name: As in the tables.
        time_ns: Time of its lines outside of functions that other lines call (ns): only to order files by.
        lines: All its lines, or, where no copy of it was kept, those that were counted.
    """

    name: str
    time_ns: int
    lines: tuple[SourceLine, ...]


@dataclass(frozen=True)
class Measured:
    """What was measured of lines, besides their counts.

    Attributes:
        sampled_ns: Time by line; None: nothing was sampled.
        layers: Names of layers by the line that made them.
        kernels_ns: Time by layer.
    """

    sampled_ns: Mapping[Place, int] | None
    layers: Mapping[Place, tuple[str, ...]]
    kernels_ns: Mapping[str, int]

    def line(self, name: str, number: int, text: str, counted: Mapping[str, Any]) -> SourceLine:
        """A line of a file."""
        place = name, number
        layers = self.layers.get(place, ())
        kernels = [self.kernels_ns[layer] for layer in layers if layer in self.kernels_ns]
        return SourceLine(
            number=number,
            text=text[:_LONGEST],
            hits=counted.get("hits"),
            time_ns=None if counted.get("samples") is not None else counted.get("time_ns"),
            sampled_ns=None if self.sampled_ns is None else self.sampled_ns.get(place),
            kernels_ns=sum(kernels) if kernels else None,
            layers=layers,
            first_line=counted.get("first_line"),
            is_scaled=counted.get("how") == LineSource.SCALED and bool(counted.get("hits")),
        )


def of_run(run: Run, tree: Breakdown | None, sampled: Sequence[Sample]) -> list[SourceFile]:
    """The files with lines that were counted or seen in samples, those with most time first.

    Args:
        run: The run.
        tree: Its breakdown, for the kernels of layers; None: there is none.
        sampled: Its stacks, cut by phase (`samples.of_run`).
    """
    counted: dict[str, dict[int, Mapping[str, Any]]] = {}
    for row in sorted(run.rows("lines"), key=lambda row: (row["samples"] is None, row["time_ns"])):
        counted.setdefault(row["file"], {})[row["line"]] = row  # a lambda and its line: the one with most time
    measured = Measured(_sampled(sampled), _layers_by_place(run), _kernels_by_layer(tree))
    files = [_file(name, run.folder.source_lines(name), rows, measured) for name, rows in counted.items()]
    return sorted(files, key=lambda file: (-file.time_ns, file.name))


def _file(
    name: str, source: Sequence[str] | None, rows: Mapping[int, Mapping[str, Any]], measured: Measured
) -> SourceFile:
    texts = dict(enumerate(source, 1)) if source else _from_table(rows)
    lines = [measured.line(name, number, text, rows.get(number, {})) for number, text in texts.items()]
    return SourceFile(name, max((row["time_ns"] for row in rows.values()), default=0), tuple(lines))


def _from_table(rows: Mapping[int, Mapping[str, Any]]) -> dict[int, str]:
    """The lines of a file that is not at hand, as far as they are known."""
    return {number: str(rows[number]["source"] or "") for number in sorted(rows)}


def _sampled(everything: Sequence[Sample]) -> dict[Place, int] | None:
    """Time for which each line was on a stack of any thread (ns); None: nothing was sampled."""
    found: dict[Place, int] = {}
    for one in everything:
        for place in {(file, line) for _, file, line in one.frames}:
            found[place] = found.get(place, 0) + one.dur_ns
    return found if everything else None


def _layers_by_place(run: Run) -> dict[Place, tuple[str, ...]]:
    """Layers by the line that made them."""
    found: dict[Place, dict[str, None]] = {}
    for row in run.chosen("spans", "kind", ("construct",), ("detail", "file", "line")):
        if row["detail"] and row["file"]:
            layer = json.loads(row["detail"]).get("layer")
            if layer:
                found.setdefault((row["file"], row["line"]), {})[layer] = None
    return {place: tuple(layers) for place, layers in found.items()}


def _kernels_by_layer(tree: Breakdown | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in tree.layers if tree else ():
        if one.layer is not None:
            found[one.layer] = found.get(one.layer, 0) + one.ns
    return found
