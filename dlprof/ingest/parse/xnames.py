"""What the names and stats of XSpace events tell: kind, scope and link, by columns over many events."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dlprof.ingest.kernels.events import NONE, Booleans, Integers
from dlprof.ingest.kernels.scopes import HloInstruction, NodePath, Scope
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.xplane import Plane
from dlprof.schema import trace_marks
from dlprof.schema.trace_marks import MarkSort
from dlprof.schema.vocabulary import EventKind

IGNORED = 99
"""In place of a kind: the event is not kept."""
MAYBE = 98
"""In place of a kind: an event of the host that counts only if it has the stat `hlo_op`."""
_NUMBERS = ("program_id", "run_id", "correlation_id", "step_num")
_TEXTS = ("hlo_op", "hlo_module", "tf_op", "name", "annotation")
_NODE_STATS = ("tf_op", "annotation")
_COPIES = re.compile(r"^(Memcpy|Memset|MEMCPY|MEMSET)")
_EAGER = re.compile(r"^EagerLocalExecute: (?!\w*(?:Optional|Iterator|Dataset))[A-Z]\w*$")
"""An operation that TensorFlow runs by itself; underscores begin a whole graph, the others are bookkeeping of input."""
_COMPILES = re.compile(r"backend_compile(?:_and_load)?")
"""Compilation by XLA, on the thread that called the function. In runs of dlprof's own it is a phase, and no kernel."""
_PYTHON = re.compile(r"\$(?P<place>\S{1,4000}) (?P<function>.+)", re.DOTALL)
"""Functions as the profiler's tracer of Python names them: `$train.py:14 load`, of those in C `$time sleep`."""
_MARKS = frozenset((MarkSort.NUMBERED_STEP, MarkSort.STEP, MarkSort.EPOCH, MarkSort.INPUT))
_LAUNCH = re.compile(r"^(cuda|hip|cu)[A-Z]\w+$|^(Memcpy|Memset)")
_OPERATOR = re.compile(r"^[^\s:#]*[^\s:#]:_?[A-Z]\w*(#.*)?$")
_BY_PREFIX: tuple[tuple[tuple[str, ...], int], ...] = (
    (("end: ", "ThreadpoolListener"), IGNORED),
    (("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute"), EventKind.INPUT),
    (
        (
            "FunctionRun",
            "ThunkExecutor::Execute (wait",
            "PjRtBuffer::Await",
            "CommonPjRtBuffer::Await",
            "BlockHostUntilReady",
            "Await",
            "Wait for ",
        ),
        EventKind.WAIT,
    ),
    (("ExecutorState::Process", "ThunkExecutor::Execute", "ExecutorDoneCallback"), EventKind.RUNTIME),
)


@dataclass(frozen=True)
class Told:
    """What is told of some events, by columns.

    Attributes:
        kind: Of `EventKind`, or IGNORED.
        scope: Number of the scope in the trace, or NONE.
        link: What launches and kernels have in common, or the number of a program's execution, or NONE.
        name: Number of the name in the trace.
    """

    kind: Integers
    name: Integers
    scope: Integers
    link: Integers


class NameTable:
    """Names, kinds and stats of a plane, as arrays over the numbers of its metadata.

    Attributes:
        is_gpu: Whether the plane is that of a device.
        keeps_all: Whether events of the host that are no operators are kept as work of the framework.
        is_foreign: Whether dlprof did not take the trace: names of ranges tell then what else would not be known.
        numbers: Stats, by their metadata, whose numbers tell something.
        references: Those whose texts do.
    """

    def __init__(
        self, trace: Trace, plane: Plane, *, is_gpu: bool, keeps_all: bool = False, is_foreign: bool = False
    ) -> None:
        self.is_gpu = is_gpu
        self.keeps_all = keeps_all
        self._trace = trace
        self._texts = plane.stats
        self._numbers = np.asarray(sorted(plane.names), np.int64)
        texts = [plane.names[number] for number in self._numbers.tolist()]
        shown = texts if is_gpu or not is_foreign else [shown_name(text) for text in texts]
        self._names = np.asarray([trace.names.number(text) for text in shown] or [NONE], np.int32)
        judge: Callable[[str], int] = gpu_kind if is_gpu else foreign_kind if is_foreign else host_kind
        self._kinds = np.asarray([judge(text) for text in texts] or [IGNORED], np.int64)
        self.numbers, self.references = plane.stat_numbers(_NUMBERS), plane.stat_numbers(_TEXTS)

    def _index(self, metadata: Integers) -> tuple[Integers, Booleans]:
        at = np.minimum(np.searchsorted(self._numbers, metadata), max(0, len(self._numbers) - 1))
        known = self._numbers[at] == metadata if len(self._numbers) else np.zeros(len(metadata), bool)
        return at.astype(np.int64), known

    def kinds(self, metadata: Integers) -> Integers:
        """The kind of each event, by its name."""
        at, known = self._index(metadata)
        return np.where(known, self._kinds[at], IGNORED)

    def _named(self, metadata: Integers) -> Integers:
        return self._names[self._index(metadata)[0]].astype(np.int64)

    def resolve(self, metadata: Integers, kinds: Integers, stats: Mapping[int, Integers]) -> Told:
        """What is told of events whose kind depends on their stats as well.

        Args:
            metadata: Number of each event's name.
            kinds: Kind by the name.
            stats: Values of the stats, by number; -1 where an event lacks one.
        """
        by_name = {self._texts[number]: column for number, column in stats.items()}
        missing = np.full(len(metadata), NONE, np.int64)
        link, run, op = (by_name.get(name, missing) for name in ("correlation_id", "run_id", "hlo_op"))
        scope = self._scopes(by_name, missing)
        names = self._named(metadata)
        if self.is_gpu:
            return Told(self._decided(kinds), names, scope, link)
        # On the host an event with `hlo_op` is an executed instruction, whatever its name.
        kind = np.where(op >= 0, int(EventKind.OPERATOR), kinds)
        kind = np.where((op >= 0) & (link >= 0), int(EventKind.RUNTIME), kind)
        if "hlo_op" in by_name and "run_id" in by_name:
            link = np.where(kind == EventKind.OPERATOR, run, link)
        step = by_name.get("step_num", missing)
        kind = np.where(step >= 0, int(EventKind.ANNOTATION), kind)
        link = np.where(step >= 0, NONE, link)
        return Told(self._decided(kind), self._numbered(names, step), scope, link)

    def _numbered(self, names: Integers, step: Integers) -> Integers:
        """The names, those of steps with the number of the step behind them."""
        rows = np.flatnonzero(step >= 0)
        if len(rows):
            names = names.copy()
            known = self._trace.names
            pairs = zip(names[rows].tolist(), step[rows].tolist(), strict=True)
            names[rows] = [known.number(step_name(known[name], number)) for name, number in pairs]
        return names

    def _decided(self, kind: Integers) -> Integers:
        return np.where(kind == MAYBE, int(EventKind.RUNTIME) if self.keeps_all else IGNORED, kind)

    def _scopes(self, by_name: Mapping[str, Integers], missing: Integers) -> Integers:
        scope = missing.copy()
        op = by_name.get("hlo_op")
        if op is not None:
            rest = [by_name.get(name, missing) for name in ("hlo_module", "program_id", "name")]
            self._fill(scope, [op, *rest], self._instruction)
        for name in _NODE_STATS if self.is_gpu else ():
            column = by_name.get(name)
            if column is not None:
                self._fill(scope, [column], self._node)
        return scope

    def _fill(self, scope: Integers, columns: list[Integers], make: Callable[..., Scope | None]) -> None:
        """Give those events a scope that have none yet and have the first of the stats; one per distinct values."""
        rows = np.flatnonzero((columns[0] >= 0) & (scope == NONE))
        if not len(rows):
            return
        values = [column[rows] for column in columns]
        inverse = first = np.zeros(len(rows), np.int64)
        for column in values:
            unique, number = np.unique(column, return_inverse=True)
            _, first, inverse = np.unique(inverse * len(unique) + number, return_index=True, return_inverse=True)
        scopes = [make(*(int(column[at]) for column in values)) for at in first.tolist()]
        numbers = [NONE if made is None else self._trace.scopes.number(made) for made in scopes]
        scope[rows] = np.asarray(numbers, np.int64)[inverse]

    def _instruction(self, op: int, module: int, program: int, path: int) -> HloInstruction:
        texts = self._texts
        return HloInstruction(texts.get(op, ""), texts.get(module, ""), program, texts.get(path, ""))

    def _node(self, path: int) -> NodePath | None:
        text = self._texts.get(path, "")
        return NodePath(text) if text and text != "XlaModule:" else None


def step_name(text: str, number: int | str) -> str:
    """`train` of a step with a number: `train step 7`. That it is one its maker says, however it is called."""
    plain = text.partition("#")[0]
    usual = f"{plain} {number}" if plain.lower().endswith(("step", "batch")) else f"{plain} step {number}"
    mark = trace_marks.of_name(usual)
    is_told = mark is not None and mark.sort is MarkSort.NUMBERED_STEP
    return usual if is_told else trace_marks.step_called(plain, number)


def shown_name(text: str) -> str:
    """The name of an event; of a function of Python as other profilers write it: `train.py(14): load`."""
    found = _PYTHON.fullmatch(text)
    if found is None:
        return text
    file, _, line = found["place"].rpartition(":")
    return f"{file}({line}): {found['function']}" if line.isdigit() else f"{found['place']}.{found['function']}"


def gpu_kind(name: str) -> int:
    """The kind of an event on a stream of a GPU."""
    return EventKind.TRANSFER if _COPIES.match(name) else EventKind.KERNEL


def foreign_kind(name: str) -> int:
    """The kind of an event of the host in a trace that dlprof did not take.

    There the profiler may have traced Python, what compiles is in no phase, and only the names of the user's ranges
    say when the program waited for its data.
    """
    if name.startswith("$"):
        return EventKind.PYTHON if _PYTHON.fullmatch(name) else MAYBE
    if _COMPILES.fullmatch(name):
        return EventKind.OPERATOR
    kind = host_kind(name)
    mark = trace_marks.of_name(name) if kind == MAYBE else None
    return EventKind.ANNOTATION if mark is not None and mark.sort in _MARKS else kind


def host_kind(name: str) -> int:
    """The kind of an event of the host, as far as its name tells it."""
    for prefixes, kind in _BY_PREFIX:
        if name.startswith(prefixes):
            return kind
    if _LAUNCH.match(name):
        return EventKind.RUNTIME
    if _EAGER.match(name):
        return EventKind.OPERATOR
    return EventKind.OPERATOR if _OPERATOR.match(name) and "::" not in name else MAYBE
