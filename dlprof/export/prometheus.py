"""Figures of a run as Prometheus' text format (version 0.0.4): for the textfile collector of its node_exporter.

Names end with their units, and times are seconds, as its conventions ask. Labels tell the script and the backend of the
run, so that a newer run of the same takes the place of an older one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

from dlprof.export import figures
from dlprof.store.run import Run
from dlprof.units import safe

_SUFFIXES = {"s": "_seconds", "By": "_bytes", "": ""}


def write(run: Run, out: BinaryIO) -> str:
    """Write the figures.

    Args:
        run: The run.
        out: Where to.

    Returns:
        How much was written.
    """
    found = figures.of_run(run)
    report = found.report
    own = {"script": report.script or "", "backend": report.backend or "", "host": report.machine.host}
    lines, count = [], 0
    for figure in found.figures:
        name = f"dlprof_{figure.name}{_SUFFIXES[figure.unit]}"
        lines += [f"# HELP {name} {figure.about}", f"# TYPE {name} gauge"]
        lines += [_sample(name, {**own, **labels}, value) for labels, value in figure.known]
        count += len(figure.known)
    out.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    return f"{count} samples"


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{told}}} {value!r}"


def _escaped(text: str) -> str:
    return safe(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
