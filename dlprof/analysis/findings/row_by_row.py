"""Layers that go through their rows, or their steps in time, one by one: the same small operator again and again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlprof.analysis import kernels, source_loops
from dlprof.analysis.findings import called_loops, called_models, fixes, queries
from dlprof.analysis.findings.called_models import Called
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground, SpanKind, StepPart

_TITLE = Title("A layer went through its rows one by one", "a layer that goes through its rows one by one")
_IN_TIME = Title("A layer went through time in a loop of Python", "a layer that goes through time in Python")
_CALLED = Title("The model was called for few rows at a time", "calls of the model for few rows")
_DIFFERENTIATED = 0.2
"""Operators of the way back for each of the way there, from which on a gradient is taken of the calls."""
_MANY = 50
"""Executions of one operator, in one layer and step, that no layer of whole arrays has."""
_SMALL_NS = 400_000
"""Longer ones have enough to do each."""
_COMPUTING = (Category.MATMUL, Category.CONV, Category.REDUCTION, Category.ELEMENTWISE)
_RECURRENT = re.compile(r"(LSTM|GRU|RNN)(?!Cell)|Recurrent|Scan|Bidirectional")
"""Classes of layers that have to go through time step by step. A cell in a loop of the script's own has not: the engine
has the same over whole sequences."""
_CELL_OF_KERAS = re.compile(r"lstm|gru|rnn", re.IGNORECASE)
"""Names of what a recurrent layer of Keras calls at each step: it is not in the list of the model's layers."""
_CELL = re.compile(r"\b(?:Basic)?(LSTM|GRU|RNN)Cell\(|\b(?:L|links)\.(?:Stateful|Stateless)?(LSTM|GRU)\(")
"""Also as TensorFlow 1 and Chainer call them: what Chainer calls a layer takes one point in time."""
_SHARE_OF_OPERATORS = 0.3
_SHARE_OF_WORK = 0.08
_CHOICES = frozenset({"cond", "switch"})
"""Operators of JAX that run one of their branches."""
_LOOPS = ("map_fn(", "while_loop(", "vmap_loop(", "lax.map(", "foreach(", "vectorized_map(")


@dataclass(frozen=True)
class Layer:
    """A layer that starts an operator many times in each step.

    Attributes:
        name: Its name.
        op: The operator.
        times: How often it is started in a step.
        count: All operators of the layer in the windows.
    """

    name: str
    op: str
    times: float
    count: int


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, for all such layers together."""
    if case.tree.unsplit is not None or case.devices.foreign or _others_ran(case):
        return
    rows = [row for row in case.kernels.operators.rows if row.layer is not None]
    layers = of_rows(rows, case.kernels.window_steps, _recurrent(case, rows))
    called = _called(case, layers, rows)
    if called is not None:
        yield from _of_called(case, called)
        return
    share = sum(layer.count for layer in layers) / max(1, sum(row.count for row in rows))
    takes = case.takes(Tree.FIT_STEPS, share=0.9 * share)
    if share < _SHARE_OF_OPERATORS or sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
        return
    line, loop = _asked_at(case), loop_of(case)
    if line is None and loop is not None and is_recurrence(case, loop):
        takes = case.takes(Tree.FIT_STEPS / StepPart.HOST_PYTHON, Tree.FIT_STEPS / StepPart.DISPATCH, share=share)
        if sum(takes.values()) >= _SHARE_OF_WORK * case.whole_ns:
            yield _claim(case, layers, takes, loop, share, in_time=True)
    else:
        yield _claim(case, layers, takes, line or loop or _made_at(case, layers), share, in_time=False)


def _called(case: Case, layers: Sequence[Layer], rows: Sequence[kernels.Row]) -> Called | None:
    """The script's own line that calls the model so often, where no gradient is taken of that; None: there is none."""
    times = max((layer.times for layer in layers), default=0.0)
    of_layers = [row for row in rows if row.layer in {layer.name for layer in layers}]
    there, back = (
        sum(row.count for row in of_layers if row.direction == way) for way in (Direction.FORWARD, Direction.BACKWARD)
    )
    if not times or back > _DIFFERENTIATED * there:
        return None
    return called_models.by_script(case, times)


def _of_called(case: Case, called: Called) -> Iterator[Claim]:
    takes = case.takes(Tree.FIT_STEPS, share=0.9 * called.share)
    if sum(takes.values()) >= _SHARE_OF_WORK * case.whole_ns:
        yield Claim(
            Sentence(
                f"The script calls its model {called.times:.0f} times a step, for few rows each, and takes no gradient "
                "of that:"
            ),
            takes,
            [queries.operators(by="layer, op")],
            "Call it for many rows at a time: of several environments, games or requests side by side, which go on in "
            "step, or of all rows that are there already.",
            called.line,
            basis=Basis.ESTIMATED,
            title=_CALLED,
            support=Support(Ground.REPEATED, seen=case.kernels.seen_steps, agree=called.share),
        )


def is_in_time(case: Case) -> bool:
    """Whether it is a layer that goes through time: what is told of it is what Python adds, not that it is a loop."""
    return any(claim.title is _IN_TIME for claim in claims(case))


def _claim(
    case: Case,
    layers: Sequence[Layer],
    takes: dict[TreePath, int],
    line: SourceLine | None,
    share: float,
    *,
    in_time: bool,
) -> Claim:
    """The claim; of what has to be computed one after the other, only that Python starts it can be saved."""
    worst = max(layers, key=lambda layer: layer.count)
    more = f" and {len(layers) - 1} more" if len(layers) > 1 else ""
    cell = _cell(case, line)
    goes_on = in_time or cell is not None
    of_each = "each out of the one before" if goes_on else "for one row or time step each"
    return Claim(
        Sentence(f"{worst.name}{more} starts {worst.op} {worst.times:.0f} times a step, {of_each}:"),
        takes,
        [queries.operators(by="layer, op")],
        _ADVICE_OF_CELLS if cell else _ADVICE_IN_TIME if in_time else _ADVICE,
        line,
        basis=Basis.ESTIMATED,
        title=_IN_TIME if goes_on else _TITLE,
        support=Support(
            Ground.MODEL if line is not None and _chooses(case, line) else Ground.REPEATED,
            seen=case.kernels.seen_steps,
            agree=share,
        ),
        fix=_fix(case, line),
    )


_ADVICE = (
    "Write the layer with operations over whole arrays, which take all rows at once; one that works on the last axis "
    "needs no loop over the others."
)
_ADVICE_IN_TIME = (
    "Compute for all points in time at once what needs no other of them, such as products with the inputs, and leave "
    "the rest to a recurrent layer or a loop of the engine's own, or have the layer compiled."
)
_ADVICE_OF_CELLS = (
    "Give the whole sequence to the engine's own recurrent layer, in one call: it multiplies the inputs of all points "
    "in time at once, and goes through time in one operator."
)


def _chooses(case: Case, line: SourceLine) -> bool:
    """Whether what a loop of the engine's calls for each row chooses there between branches.

    Each row then computes one of them; operations over whole arrays would compute both for all rows, which may well
    take longer.
    """
    is_map = any(word in case.code.source(*line) for word in _LOOPS)
    return is_map and any(row["op"] in _CHOICES for row in case.run.rows("kernel_ops"))


def _cell(case: Case, line: SourceLine | None) -> str | None:
    """Which cell of an engine's own a line makes, such as `LSTM`; None: it makes none."""
    made = _CELL.search(case.code.source(*line)) if line is not None else None
    return made[1] or made[2] if made else None


def is_recurrence(case: Case, loop: SourceLine) -> bool:
    """Whether the loop at a line computes each time out of the time before."""
    return source_loops.is_recurrence(case.code.lines(loop[0]), loop[1])


def loop_of(case: Case) -> SourceLine | None:
    """The loop of a function that the engine called, in the steps, in which the main thread stood longest."""
    loops: Counter[SourceLine] = Counter()
    for place, ns in called_loops.stood(case, source_loops.around).items():
        loops[place.file, place.loop] += ns
    return max(loops, key=lambda loop: loops[loop], default=None)


def _others_ran(case: Case) -> bool:
    """Whether the model was also run for something else in a window: its operators are in one step with the others."""
    windows = [(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in case.run.rows("kernel_windows")]
    calls = case.calls.of(SpanKind.EVALUATE, SpanKind.PREDICT)
    return any(begin < call.begin_ns < end for call in calls for begin, end in windows)


def of_rows(rows: Sequence[kernels.Row], steps: int, recurrent: frozenset[str] = frozenset()) -> list[Layer]:
    """Layers with an operator that computes little, many times in each step.

    Args:
        rows: Operators of the windows, by layer.
        steps: Steps in the windows.
        recurrent: Names of layers that have to go step by step.
    """
    found: dict[str, Layer] = {}
    for row in rows:
        times = row.count / max(1, steps)
        if row.layer is None or row.layer in recurrent or row.direction != Direction.FORWARD:
            continue
        if times >= _MANY and row.mean_ns < _SMALL_NS and row.category in _COMPUTING:
            best = found.get(row.layer)
            if best is None or times > best.times:
                found[row.layer] = Layer(row.layer, row.op or "an operator", times, 0)
    counts = {name: sum(row.count for row in rows if row.layer == name) for name in found}
    return [Layer(one.name, one.op, one.times, counts[one.name]) for one in found.values()]


def _classes(case: Case) -> dict[str, str]:
    """Class of each layer that the training told of."""
    fits = case.calls.of(SpanKind.FIT, SpanKind.ON_BATCH)
    told = next((call.detail for call in fits if call.detail_json), {})
    return {layer["name"]: layer["class"] for layer in (told.get("model") or {}).get("layers") or ()}


def _recurrent(case: Case, rows: Sequence[kernels.Row]) -> frozenset[str]:
    by_class = {name for name, kind in _classes(case).items() if _RECURRENT.search(kind)}
    if case.run.manifest.keras is None:
        return frozenset(by_class)
    named = {row.layer for row in rows if row.layer is not None and _CELL_OF_KERAS.search(row.layer)}
    return frozenset(by_class | named)


def _asked_at(case: Case) -> SourceLine | None:
    """The line that has the engine call something for each row, or that makes a cell; None: there is none."""
    cells = case.code.line_like(_CELL.pattern) if case.run.manifest.keras is None else None
    return case.code.line_with(*_LOOPS) or cells


def _made_at(case: Case, layers: Sequence[Layer]) -> SourceLine | None:
    """The line that makes the first such layer."""
    kinds = {_classes(case).get(layer.name, layer.name) for layer in layers}
    return case.code.line_like("|".join(rf"\b{re.escape(kind)}\(" for kind in kinds))


_FIX_OF_CELLS = {
    "chainer": "L.NStep{0} over the whole sequences, called once, in place of L.{0} at each point in time",
    "tensorflow": "keras.layers.{0} over the whole sequence, called once; in TensorFlow 1 "
    "tf.contrib.rnn.{0}BlockFusedCell, in place of a {0} cell and static_rnn or dynamic_rnn",
    "torch": "nn.{0} over the whole sequence, called once, in place of nn.{0}Cell in a loop over time",
    "mxnet": "rnn.{0}(..., layout='NTC') over the whole sequence, called once, in place of rnn.{0}Cell and unroll()",
}


def _fix(case: Case, line: SourceLine | None) -> str | None:
    text = case.code.source(*line) if line is not None else ""
    cell = _cell(case, line)
    if cell is not None:
        return _FIX_OF_CELLS[case.backend].format(cell) if case.backend in _FIX_OF_CELLS else None
    mapped = re.search(r"\bmap_fn\(\s*([\w.]+|lambda[^,]*),\s*([\w.]+)", text)
    if mapped and line is not None:
        whole = re.sub(r"[\w.]*map_fn\(.*\)", f"{mapped[1]}({mapped[2]})", text)
        return fixes.diff(case, line, [whole])
    wrapped = re.search(r"TimeDistributed\(\s*(Dense\(.*\))\s*\)", text)
    if wrapped and line is not None:
        return fixes.diff(case, line, [text.replace(wrapped[0], wrapped[1], 1)])
    return None
