"""Reads what Theano's profiler prints: sums per operator, function by function."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.trace import OperatorSum, Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.text_files import as_ns, each_line, number_in, whole_in
from dlprof.ingest.parse.theano_operators import operator_sum

_CLAIM = re.compile(r"^Function profiling\s*\n={5,}\s*$", re.MULTILINE)
_COLUMN = re.compile(r"<([^<>]+)>")
_REMAINING = re.compile(r"\s*\.\.\. \(remaining ([0-9]{1,9}) ")
_CALLS = re.compile(r"\s*Time in ([0-9]+) calls to Function\.__call__: (\S+)s\s*$")
_SECONDS = (
    ("thunk_time_s", re.compile(r"\s*Time in thunks: (\S+)s\b")),
    ("compile_time_s", re.compile(r"\s*Total compile time: (\S+)s\s*$")),
    ("optimizer_time_s", re.compile(r"\s*Theano Optimizer time: (\S+)s\s*$")),
    ("linker_time_s", re.compile(r"\s*Theano Linker time \(.*\): (\S+)s\s*$")),
)
_NEEDED = frozenset(("% time", "apply time", "time per call", "#call"))
_SUM = "Sum of all"
_NS_PER_S = 1_000_000_000


def claims(sample: Sample) -> bool:
    """Whether the file holds a profile that Theano printed."""
    return bool(_CLAIM.search(sample.text))


def read(path: Path) -> FileContent:
    """The operators of all functions.

    The loops of Scan have profiles of their own: their time is in the Scan operator of the function around
    them already, so they are passed over. So is the sum that Theano prints at the end.

    Raises:
        ArtifactError: The file is damaged.
    """
    reading = _Reading()
    each_line(path, reading.line)
    blocks = reading.blocks
    counted = [block for block in blocks if not block.message.startswith(_SUM)] or blocks
    sums = [row for block in counted for row in block.sums()]
    if not sums:
        raise ArtifactError("there is no table of operators in it", path=path)
    trace = Trace(path, "theano-profile", "theano", sums=sums)
    trace.facts = {"functions": [block.facts() for block in blocks]}
    _tell(trace, sum(block.left_out for block in counted), reading.loops)
    return FileContent.of(trace)


def _tell(trace: Trace, left_out: int, loops: int) -> None:
    name = trace.path.name
    text = f"{name} gives times of three or four digits: sums may be off by about one in a thousand."
    trace.tell("times-rounded", "info", text)
    on_gpu = sum(row.device != CPU for row in trace.sums or ())
    if on_gpu:
        text = (
            f"{on_gpu} operators of {name} ran on a GPU; which one is not told (gpu:0 here). Theano times "
            "them from the host: without CUDA_LAUNCH_BLOCKING=1 a kernel's time may stand at what waited for it."
        )
        trace.tell("theano-gpu-times", "info", text, on_gpu)
    if left_out:
        text = f"{left_out} operators of little time were not printed by Theano."
        trace.tell("theano-rows-left-out", "info", text, left_out)
    if loops:
        text = f"{loops} profiles of the insides of loops (Scan) were passed over: their operators hold that time."
        trace.tell("theano-loops-passed-over", "info", text, loops)


@dataclass(frozen=True)
class _Row:
    name: str
    percent: Decimal
    apply_s: Decimal
    per_call_s: Decimal
    calls: int

    def total_s(self, thunk_s: Decimal | None) -> Decimal:
        """Total time: of the figures that give it, all rounded, the one with the least error."""
        errors_and_totals = [
            (_rounding(self.per_call_s) * self.calls, self.per_call_s * self.calls),
            (_rounding(self.apply_s), self.apply_s),
        ]
        if thunk_s is not None:
            errors_and_totals.append((_rounding(self.percent) / 100 * thunk_s, self.percent / 100 * thunk_s))
        return min(errors_and_totals, key=lambda pair: pair[0])[1]


def _rounding(value: Decimal) -> Decimal:
    """Unit of the last digit."""
    exponent = value.as_tuple().exponent
    return Decimal(1).scaleb(exponent) if isinstance(exponent, int) else Decimal(0)


@dataclass
class _Block:
    """The profile of one function."""

    message: str = ""
    calls: int | None = None
    call_time_s: float | None = None
    seconds: dict[str, Decimal] = field(default_factory=dict)
    tables: dict[str, list[_Row]] = field(default_factory=lambda: {"Class": [], "Ops": []})
    left_out: int = 0

    def sums(self) -> list[OperatorSum]:
        """Its operators."""
        thunk = self.seconds.get("thunk_time_s")
        return [operator_sum(row.name, row.calls, as_ns(row.total_s(thunk), _NS_PER_S)) for row in self.tables["Ops"]]

    def facts(self) -> dict[str, Any]:
        """What the profile says of the function (s)."""
        classes, ops = self.tables["Class"], self.tables["Ops"]
        times = {name: float(self.seconds[name]) if name in self.seconds else None for name, _ in _SECONDS}
        return {
            "message": self.message, "calls": self.calls, "call_time_s": self.call_time_s, **times,
            "class_rows": len(classes), "top_class": classes[0].name if classes else None,
            "top_class_percent": float(classes[0].percent) if classes else None,
            "op_rows": len(ops), "top_op": ops[0].name if ops else None, "top_op_calls": ops[0].calls if ops else None,
        }  # fmt: skip


class _Reading:
    """A file as its lines are read."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.loops = 0
        self._block: _Block | None = None
        self._table = ""
        self._columns: list[str] = []
        self._before = ""

    def line(self, text: str) -> None:
        """Take the next line."""
        bare = text.strip()
        if len(bare) >= 5 and set(bare) == {"="}:
            self._begin(self._before)
        elif len(bare) >= 3 and set(bare) == {"-"}:
            self._table, self._columns = self._before, []
        elif self._block is not None:
            self._inside(self._block, text, bare)
        self._before = bare

    def _begin(self, heading: str) -> None:
        self._table, self._columns, self._block = "", [], None
        if heading == "Function profiling":
            budget().hold_texts(8, 0, "functions")
            self._block = _Block()
            self.blocks.append(self._block)
        elif heading.startswith("Scan"):
            self.loops += 1

    def _inside(self, block: _Block, text: str, bare: str) -> None:
        if not self._table:
            _say(block, text)
        elif self._table in block.tables:
            if bare.startswith("<% time>"):
                self._columns = _COLUMN.findall(bare)
                if not _NEEDED.issubset(self._columns):
                    raise ValueError(f"unknown columns: {bare[:100]}")
            elif self._columns:
                self._row(block, bare)

    def _row(self, block: _Block, bare: str) -> None:
        remaining = _REMAINING.match(bare)
        if remaining or not bare:
            self._columns = []
            if remaining and self._table == "Ops":
                block.left_out += int(remaining[1])
            return
        cells = bare.split(None, len(self._columns) - 1)
        if len(cells) < len(self._columns):
            raise ValueError(f"{len(cells)} columns instead of {len(self._columns)}")
        named = dict(zip(self._columns, cells, strict=True))
        row = _Row(
            cells[-1],
            number_in(named["% time"].removesuffix("%")),
            number_in(named["apply time"].removesuffix("s")),
            number_in(named["time per call"].removesuffix("s")),
            whole_in(named["#call"]),
        )
        as_ns(row.total_s(block.seconds.get("thunk_time_s")), _NS_PER_S)  # raises where it is absurd
        budget().hold_texts(4, len(row.name), "operators")
        block.tables[self._table].append(row)


def _say(block: _Block, text: str) -> None:
    """Take a line of what stands above a function's tables."""
    if not block.message and text.strip().startswith("Message:"):
        block.message = text.strip().removeprefix("Message:").strip()
        return
    calls = _CALLS.match(text)
    if calls:
        block.calls, block.call_time_s = whole_in(calls[1]), float(number_in(calls[2]))
        return
    for name, pattern in _SECONDS:
        match = pattern.match(text)
        if match:
            block.seconds[name] = number_in(match[1])


READER = Reader("theano-profile", "Theano's profile (text)", claims, read)
