"""What the kernel windows of a run tell the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import kernels, step_split
from dlprof.analysis.columns import integers, truths
from dlprof.analysis.findings.finding import SourceLine
from dlprof.engines import combined
from dlprof.schema.vocabulary import EventKind, PseudoLayer
from dlprof.store.run import Run

_WORKING = (EventKind.OPERATOR.word, EventKind.KERNEL.word)


@dataclass(frozen=True)
class Ran:
    """What kernels did.

    Attributes:
        ns: Their time, without that of others inside of them (ns).
        count: How many times they ran.
    """

    ns: int
    count: int


class TracedKernels:
    """Operators and kernels of a run.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    @cached_property
    def has_gpu(self) -> bool:
        """Whether kernels ran on a GPU."""
        return bool(pc.any(pc.greater_equal(self._run.table("kernel_events")["device"], 0)).as_py())

    @cached_property
    def split(self) -> step_split.StepSplit | None:
        """What a step consists of; None: no kernel window was traced."""
        return step_split.of_run(self._run)

    @cached_property
    def operators(self) -> kernels.Kernels:
        """Operators by layer, where a kernel window was traced."""
        return kernels.summarise(self._run, "layer", kinds=(EventKind.OPERATOR.word,))

    @cached_property
    def by_layer(self) -> kernels.Kernels:
        """Operators of the host and kernels of devices by layer, without transfers."""
        return kernels.summarise(self._run, "layer", kinds=_WORKING)

    @cached_property
    def on_main_thread(self) -> float:
        """Share of the host's operators' time that ran on threads that phases are of: 0 where lanes name no threads."""
        turns = self._run.manifest.phase_threads
        threads = {self._run.manifest.process.pid, *(one.system_id for one in turns)}
        main = f"thread ({'|'.join(f'{one}' for one in threads if one is not None)}) "
        operators = {row["op_id"] for row in self._run.rows("kernel_ops") if row["kind"] == EventKind.OPERATOR.word}
        on_main = whole = 0
        for piece in self._run.pieces("kernel_events", ("op_id", "lane", "dur_ns", "nested_ns")):
            own = integers(piece["dur_ns"]) - integers(piece["nested_ns"])
            own = np.where(np.isin(integers(piece["op_id"]), list(operators)), own, 0)
            whole += int(own.sum())
            on_main += int(own[truths(pc.match_substring_regex(piece["lane"].cast(pa.string()), f"^{main}"))].sum())
        return on_main / whole if whole else 0.0

    @cached_property
    def by_line(self) -> Mapping[SourceLine, int]:
        """Lines of the user's to the time of the kernels that they made (ns); empty: no trace tells them."""
        return self.line_times(lambda _row: True)

    def line_times(self, keep: Callable[[Mapping[str, Any]], bool]) -> Mapping[SourceLine, int]:
        """The same of some kernels only, the line with most time first; `keep` as of `line_kernels`."""
        return {line: ran.ns for line, ran in self.line_kernels(keep).items()}

    def line_kernels(self, keep: Callable[[Mapping[str, Any]], bool]) -> Mapping[SourceLine, Ran]:
        """Lines of the user's to what kernels that they made ran, the one with most time first.

        Args:
            keep: Says of a row of `kernel_ops` whether it counts.
        """
        rows = [row for row in self._run.rows("kernel_ops") if row["file"] and row["kind"] in _WORKING and keep(row)]
        places = {row["op_id"]: (row["file"], row["line"]) for row in rows}
        found: dict[SourceLine, Ran] = {}
        for piece in self._run.pieces("kernel_events", ("op_id", "dur_ns", "nested_ns")) if places else ():
            own = pc.subtract(piece["dur_ns"], piece["nested_ns"])
            by_op = (
                pa.table({"op": piece["op_id"], "ns": own}).group_by("op").aggregate([("ns", "sum"), ("ns", "count")])
            )
            for row in by_op.to_pylist():
                line = places.get(row["op"])
                if line is not None:
                    before = found.get(line, Ran(0, 0))
                    found[line] = Ran(before.ns + row["ns_sum"], before.count + row["ns_count"])
        return dict(sorted(found.items(), key=lambda item: -item[1].ns))

    def share_of_long(self, least_ns: int) -> float | None:
        """Share of the host's operators' time that is in executions of at least so many ns; None: none was traced."""
        return kernels.share_of_long(self._run, least_ns)

    @property
    def window_steps(self) -> int:
        """Steps in all windows."""
        return sum(row["steps"] or 0 for row in self._run.rows("kernel_windows"))

    @property
    def seen_steps(self) -> int | None:
        """The same, as a number of observations; None: a trace that does not tell them."""
        return self.window_steps or None

    @cached_property
    def calling_python(self) -> list[kernels.Row]:
        """Operators that call a function of Python."""
        return [row for row in self.operators.rows if row.op in combined.python_operators()]

    @cached_property
    def call_python_for_layers(self) -> bool:
        """Whether operators that call Python are rather part of the model than of the input."""
        feeding = sum(row.total_ns for row in self.calling_python if row.layer == PseudoLayer.INPUT)
        return feeding < sum(row.total_ns for row in self.calling_python) / 2
