"""Own loops that start each operation by itself, on an engine that could run the step as one compiled function."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto

from dlprof.analysis import loops, source_calls, source_loops
from dlprof.analysis.findings import compiled_steps, doing, own_elements, queries, standing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.sampled_code import Chosen
from dlprof.analysis.samples import Sample, is_of_input
from dlprof.analysis.stacks import Frame
from dlprof.engines.base import EngineSpec
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Direction, Ground, Phase
from dlprof.units import duration

_PATHS = (Tree.SCRIPT, Tree.FIT_STEPS)
_SHARE_OF_WORK = 0.15
_OFTEN = 50
"""A line that ran so often is in a loop; what is built once runs operation by operation in every script."""
_CONVERSIONS = ("array", "asarray", "device_put", "constant", "convert_to_tensor", "_sync_copyfrom")
"""Functions that bring data of the host over: batches, in most loops."""
_BACKWARD = "backward"
_LEAST_FORWARD = 0.1
"""Share of the samples in a network's single operations: less may be the loss alone, which nobody compiles."""
_ONE_BY_ONE = 30
"""Operators of no layer in a step on the way forward, from which on they are more than a loss, which has about ten."""
_DEEP = 4
"""Frames between the user's line and the operation that it starts: wrappers of the engine's own."""
_OF_KERAS = tuple(
    f"keras/src/{part}/" for part in ("backend", "layers", "losses", "metrics", "models", "ops", "optimizers")
)
"""What of Keras starts operations where a loop calls a model, a loss or an optimiser itself."""
_SAVING = "/saving/"
_GRADIENT = ".gradient("
_RANDOM_SPLIT = "random.split("
_DRAWS = re.compile(r"(?<![\w.])((np|numpy)\.random|random)\.\w+\(")
_DRAWN = (
    " What it draws with NumPy or with Python's random must be drawn by the engine then, or be an argument: a compiled "
    "function would draw it once, and have it as a constant."
)
_COUNTED = (
    "What it counts in Python ({}) must be a variable of the engine then, or an argument: a compiled function would "
    "count once, and have the number as a constant."
)
_IN_MODELS = ("keras/src/layers/layer.py", "keras/src/models/")
"""Where a model of Keras is called."""


class _What(Enum):
    """What it is that runs operation by operation."""

    STEP = auto()
    CALLS = auto()
    """A function, where nothing is trained."""
    MODEL = auto()
    """A model of Keras that is called, where nothing is trained."""
    UPDATES = auto()
    """Changes of parts of arrays."""
    ARGUMENTS = auto()
    """Arguments of a function that is compiled."""


_LOOP = "The loop starts each operation by itself from Python, where one compiled function could run the step:"
_SAYS = {
    _What.STEP: _LOOP,
    _What.CALLS: "The loop starts each operation by itself from Python, where one compiled function could run them:",
    _What.MODEL: "Each call of the model starts its operations one by one from Python, where one compiled function "
    "could run them:",
    _What.UPDATES: _LOOP,
    _What.ARGUMENTS: _LOOP,
}
_UPDATES = (
    "Most of these operations change a part of an array, and each makes a copy of all of it: change it in place "
    "outside of the engine, or in a compiled function that may overwrite it."
)
_ARGUMENTS = (
    "What is started one by one makes the arguments of a function that is compiled already: do it inside of that "
    "function, which is given the whole arrays and the indices, or with NumPy, which has nothing to start."
)
_MODEL = (
    "Call a compiled function of the model that is made once, in front of the loop, with many rows at once where they "
    "are there together, and with one shape: each other one is compiled by itself."
)
_FIX_OF_MODEL = {
    "tensorflow": "compiled = tf.function(model) in front of the loop, and compiled(x) in it; or "
    "model.predict_on_batch(x), which gives NumPy's arrays back",
    "jax": "model.predict_on_batch(x) in place of model(x): it is compiled, and gives NumPy's arrays back",
}


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where stacks show operations that a loop of the user's starts one by one."""
    if not case.engine.eager_files:
        return
    paths = _paths(case)
    eager, share = _most(case, paths)
    counted = _with_way_back(case, eager, share) if case.engine.eager_within else eager
    if counted is None:
        return
    if counted is not eager:
        share = case.code.share(paths, counted)
    share = min(share, _not_waiting(case, paths))
    executing = _executing(case, paths, eager)
    sure = case.engine.compiling_saves * max(0.0, share - executing)
    share = max(0.0, share - executing / 2)
    takes = case.takes(*paths, share=case.engine.compiling_saves * share)
    if sum(takes.values()) < _SHARE_OF_WORK * case.work_ns:
        return
    line = _loop_line(case, eager)
    what = _what(case, paths, eager, line)
    yield Claim(
        Sentence(_SAYS[what], _surely(case, paths, sure) if executing else "."),
        takes,
        [queries.python_stood(Phase.SCRIPT, Phase.FIT_STEPS)],
        _next(case, eager, what),
        line,
        basis=Basis.ESTIMATED,
        support=_support(case, paths, counted, share, sure),
        fix=_fix(case, line, what),
    )


def _executing(case: Case, paths: Sequence[TreePath], eager: Chosen) -> float:
    """The share in which operations that no kernel window saw are run by the thread that starts them: 0 to 1.

    A compiled function keeps what their kernels take of it, and saves what starts them.
    """
    files = case.engine.executing_files
    if not files or case.steps is not None:
        return 0.0
    return case.code.share(paths, lambda sample: eager(sample) and sample.frames[0].file.startswith(files))


def _surely(case: Case, paths: Sequence[TreePath], share: float) -> str:
    surely = duration(sum(case.takes(*paths, share=share).values()))
    return f", {surely} of it in Python around them; the rest is half of their own calls, for kernels are in these."


def _support(case: Case, paths: Sequence[TreePath], counted: Chosen, share: float, sure: float) -> Support:
    """A question, where what is sure to be saved would not be worth a word."""
    if sum(case.takes(*paths, share=sure).values()) >= _SHARE_OF_WORK * case.work_ns:
        return case.code.support(paths, counted, ground=Ground.REPEATED, agree=min(1.0, 2 * share))
    return case.code.support(paths, counted, ground=Ground.MODEL, agree=0.5)


def _not_waiting(case: Case, paths: Sequence[TreePath]) -> float:
    """The share of the time in which starting an operation is no wait for a compiled function, at most: 0 to 1.

    Where an engine works on behind the calls that started it, the next operation that the loop starts waits for the
    compiled step before it, whatever it is. So only what passes while no operator runs is the loop's own.
    """
    quiet = standing.outside_operators(case) if case.asynchronous else None
    if quiet is None or not case.code.names_compiled(case.code.lines_of_loops(_OFTEN)):
        return 1.0
    steps, whole = case.own(Tree.FIT_STEPS), sum(case.own(path) for path in paths)
    return 1 - (1 - quiet.lasts) * steps / max(1, whole)


def _what(case: Case, paths: Sequence[TreePath], eager: Chosen, line: SourceLine | None) -> _What:
    if _are_updates(case, paths, eager):
        return _What.UPDATES
    if _given_to(case, line):
        return _What.ARGUMENTS
    if case.steps is not None:
        return _What.STEP
    calls_model = case.code.share(paths, lambda sample: eager(sample) and _is_in_model(sample))
    return _What.MODEL if 2 * calls_model > case.code.share(paths, eager) else _What.CALLS


def _is_in_model(sample: Sample) -> bool:
    return any(frame.file.startswith(_IN_MODELS) for frame in sample.frames)


def _next(case: Case, eager: Chosen, what: _What) -> str:
    if what is _What.UPDATES:
        return _UPDATES
    if what is _What.ARGUMENTS:
        return _ARGUMENTS
    if what is _What.MODEL:
        return _MODEL
    function = "the loop calls" if what is _What.CALLS else "makes a step"
    return f"Compile the function that {function}: {case.engine.compile_with}.{_once(case, eager)}"


def _given_to(case: Case, line: SourceLine | None) -> str | None:
    """The compiled function among whose arguments a line is; None: among those of none."""
    tree = source_loops.parsed(case.code.lines(line[0])) if line is not None and case.code.compiled else None
    if line is None or tree is None:
        return None
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = source_calls.called(call)
        given = [*call.args, *(one.value for one in call.keywords)]
        if name in case.code.compiled and any(one.lineno <= line[1] <= (one.end_lineno or 0) for one in given):
            return name
    return None


def _with_way_back(case: Case, eager: Chosen, forward: float) -> Chosen | None:
    """Samples of what runs operation by operation, and of its gradients, which do so, too; None: it is the loss alone.

    Layers are known of what was compiled: where no operator of a kernel window has one, and they are many, nothing was.
    """
    single, compiled = _single(case)
    many = single is not None and single >= _ONE_BY_ONE
    if compiled and not many:
        return None
    if forward >= _LEAST_FORWARD or (many and not compiled and forward > 0):
        return lambda sample: eager(sample) or any(frame.name == _BACKWARD for frame in sample.frames)
    return eager


def _single(case: Case) -> tuple[float | None, bool]:
    """Operators of no layer in a traced step, on the way forward (None: not known), and whether others have one."""
    rows = [row for row in case.kernels.operators.rows if row.direction != Direction.UPDATE]
    steps = case.kernels.window_steps
    if not rows or not steps or case.tree.unsplit is not None:
        return None, False
    single = sum(row.count for row in rows if row.layer is None and row.direction != Direction.BACKWARD)
    return single / steps, any(row.layer is not None for row in rows)


def _most(case: Case, paths: Sequence[TreePath]) -> tuple[Callable[[Sample], bool], float]:
    """Which samples stand in operations that are started one by one, and the share that a compiled function may save.

    Those below calls of Keras, or deep in the engine, count only as far as operators would not run as long in a
    compiled function. All kernels are taken to be below them.
    """
    direct = _eager(case, _DEEP)
    near = case.code.share(paths, direct)
    if case.engine.eager_within:  # these are told by files, at whatever depth
        return direct, near
    any_depth, around = _eager(case, None), _around(case)
    deep = case.code.share(paths, any_depth)
    both = case.code.share(paths, lambda sample: any_depth(sample) or around(sample))
    whole = sum(case.takes(*paths).values())
    # Python around operations is theirs as far as there is no more of it.
    saved = min(both, 2 * deep) - compiled_steps.kept_kernels(case) / max(1, whole)
    return (any_depth if deep > near else direct), max(near, saved)


def _around(case: Case) -> Callable[[Sample], bool]:
    """Tells whether a sample stands in Python of the engine's own that a line of a loop called: trees, tapes, types."""
    often = case.code.lines_of_loops(_OFTEN)
    users, engine = case.code.user_files, case.engine

    def is_around(sample: Sample) -> bool:
        mine = next((n for n, frame in enumerate(sample.frames) if (frame.file, frame.line) in often), None)
        if not mine or is_of_input(sample) or own_elements.takes_elements(case, sample):
            return False
        below = sample.frames[:mine]
        inside = next((n for n, frame in enumerate(below) if frame.file in users), len(below))
        return (
            any(frame.file.split("/", 1)[0] in engine.packages for frame in below[:inside])
            and not any(frame.file.startswith((*engine.tracing_files, *engine.session_files)) for frame in below)
            and not _is_other_work(sample, mine, engine)
        )

    return is_around


def _are_updates(case: Case, paths: Sequence[TreePath], eager: Callable[[Sample], bool]) -> bool:
    """Whether most of what is started one by one changes a part of an array."""
    functions = case.engine.updating_functions
    updating = case.code.share(
        paths, lambda sample: eager(sample) and any(frame.name in functions for frame in sample.frames)
    )
    return 2 * updating > case.code.share(paths, eager)


def _paths(case: Case) -> Sequence[TreePath]:
    """Where such a loop may be: where Keras runs the training, what the script does around it is no training."""
    of_keras = loops.is_any_of_keras(case.run)
    return (Tree.FIT_STEPS,) if of_keras else _PATHS


def _eager(case: Case, depth: int | None) -> Callable[[Sample], bool]:
    """Tells whether a sample stands in an operation that a line of a loop started, and no function is being traced.

    Args:
        case: The run.
        depth: So many frames below that line at most; None: at any depth, and through Keras.
    """
    often = case.code.lines_of_loops(_OFTEN)
    users, engine = case.code.user_files, case.engine

    def is_eager(sample: Sample) -> bool:
        mine = [number for number, frame in enumerate(sample.frames) if frame.file in users]
        in_loop = any((sample.frames[n].file, sample.frames[n].line) in often for n in mine)
        if not in_loop or is_of_input(sample) or own_elements.takes_elements(case, sample):
            return False
        if _is_other_work(sample, mine[0], engine):
            return False
        if engine.eager_within:
            inside = any(frame.file.startswith(engine.eager_within) for frame in sample.frames)
            if any(frame.file.startswith(engine.losses) for frame in sample.frames):
                return False  # of a few operations, which nobody compiles by themselves
            return inside and any(frame.file.startswith(engine.eager_files) for frame in sample.frames)
        return _is_started(sample.frames[: mine[0]], engine, depth) or doing.goes_back(sample.frames, engine)

    return is_eager


def _is_other_work(sample: Sample, users: int, engine: EngineSpec) -> bool:
    """Whether data of the host are brought over, a compiled function runs, or one is traced."""
    others = (*_CONVERSIONS, *engine.waiting_functions)
    return (
        any(frame.name in others for frame in sample.frames[:users])
        or any(frame.name in engine.compiled_functions for frame in sample.frames)
        or any(frame.file.startswith(engine.tracing_files) for frame in sample.frames[users + 1 :])
    )


def _is_started(below: Sequence[Frame], engine: EngineSpec, depth: int | None) -> bool:
    """Whether frames below the user's line start an operation, or are of Keras and no graph, or file, is made."""
    if depth is not None:
        return any(frame.file.startswith(engine.eager_files) for frame in below[-depth:])
    if any(_SAVING in frame.file or frame.file.startswith(engine.tracing_files) for frame in below):
        return False
    return any(frame.file.startswith((*engine.eager_files, *_OF_KERAS)) for frame in below)


def _loop_line(case: Case, eager: Callable[[Sample], bool]) -> SourceLine | None:
    """The line of the loop itself that stood longest: the outermost of the user's that is in it."""
    stood: dict[SourceLine, int] = {}
    often = case.code.lines_of_loops(_OFTEN)
    for sample in case.code.samples:
        if sample.main and any(path.holds(sample.phase) for path in _PATHS) and eager(sample):
            place = next((p for f in reversed(sample.frames) if (p := (f.file, f.line)) in often), None)
            if place is not None:
                stood[place] = stood.get(place, 0) + sample.dur_ns
    return max(stood, key=lambda place: stood[place], default=None)


def _once(case: Case, eager: Callable[[Sample], bool]) -> str:
    """What to do with what a compiled function would do once, where functions that start these operations do it."""
    if not case.engine.tracing_files:
        return ""
    functions = _starting(case, eager)
    counted = next((text for one in functions if (text := _counted(one)) is not None), None)
    told = _DRAWN if any(_DRAWS.search(ast.unparse(one)) for one in functions) else ""
    return told if counted is None else f"{told} {_COUNTED.format(f'`{counted}`')}"


def _starting(case: Case, eager: Callable[[Sample], bool]) -> Sequence[source_calls.Function]:
    """Functions of the user's that start these operations, or call what does."""
    inside = [
        one for one in case.code.samples if one.main and any(path.holds(one.phase) for path in _PATHS) and eager(one)
    ]
    frames = [frame for one in inside for frame in one.frames if frame.file in case.code.user_files]
    seen = {(frame.file, frame.name.rsplit(".", 1)[-1]) for frame in frames}  # a method has its class's name before it
    files = sorted({file for file, _ in seen})
    return [one for file in files for name, one in _functions(case, file).items() if (file, name) in seen]


def _counted(function: source_calls.Function) -> str | None:
    """The line in which a function adds a number to what outlives it: an attribute, or a name of the file's."""
    outer = {name for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    for node in ast.walk(function):
        if not isinstance(node, ast.AugAssign) or not isinstance(node.value, ast.Constant):
            continue
        lives_on = isinstance(node.target, ast.Attribute) or getattr(node.target, "id", None) in outer
        if lives_on and isinstance(node.value.value, int | float):
            return ast.unparse(node)
    return None


def _functions(case: Case, file: str) -> Mapping[str, source_calls.Function]:
    tree = source_loops.parsed(case.code.lines(file))
    return source_calls.Functions(tree).by_name if tree is not None else {}


def _fix(case: Case, line: SourceLine | None, what: _What) -> str | None:
    if what is _What.UPDATES:
        return case.engine.update_in_place
    if what is _What.ARGUMENTS:
        return f"give `{_given_to(case, line)}` the whole arrays and the indices, and index inside of it"
    if what is _What.MODEL:
        return _FIX_OF_MODEL.get(case.engine.name)
    return _compiled(case, line)


def _compiled(case: Case, line: SourceLine | None) -> str:
    text = case.code.source(*line).strip() if line is not None else ""
    if line is not None and _GRADIENT in text:  # no function of the script's is called there: it is in one
        around = [name for name, one in _functions(case, line[0]).items() if line[1] in source_calls.lines(one)]
        return f"{case.engine.compile_with}: the function {around[-1]}" if around else case.engine.compile_with
    if _RANDOM_SPLIT in text:  # the engine's own, which is compiled already: what it takes is to be started
        return f"`{text}` inside of the function that is compiled, which gives the next key back, too"
    return f"{case.engine.compile_with}: the function called in `{text}`" if text else case.engine.compile_with
