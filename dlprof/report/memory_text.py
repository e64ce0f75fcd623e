"""Memory of a run on a terminal, as `dlprof memory` prints it."""

from __future__ import annotations

from typing import TextIO

from dlprof.report.console import make_page
from dlprof.report.memory_json import MemoryReport
from dlprof.report.sections import memory as section
from dlprof.units import safe


def print_memory(memory: MemoryReport, by: str, *, file: TextIO, plain: bool = False, name: str = "") -> None:
    """Print the memory of a run.

    Args:
        memory: The memory.
        by: `phase`, `step`, `time`, `kind`, `layer` or `line`.
        file: The stream that it is printed to.
        plain: No colour, only ASCII.
        name: Of the run.
    """
    page = make_page(file, plain=plain)
    page.title("Memory", safe(name))
    section.BY[by](page, memory)
