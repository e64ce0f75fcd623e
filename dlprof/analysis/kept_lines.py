"""Lines of the user's that keep something each time they run: where memory that grows with the steps may go.

Read from the source (a list that is appended to, a dictionary that is filled, a sum that holds its graphs, a hook or a
compiled function that is made anew), from how often each line ran, and from how large what it keeps can be
(`source_sizes`). That a line keeps what grew is not measured.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dlprof.analysis import other_threads, source_calls, source_loops, source_queues
from dlprof.analysis.source_queues import Queues
from dlprof.analysis.source_sizes import SMALL_BYTES, Sizes
from dlprof.schema.vocabulary import LineSource
from dlprof.store.run import Run

_ADDING = frozenset({"append", "appendleft", "extend", "insert", "add", "put", "put_nowait", "setdefault"})
_HOOKING = ("register_hook", "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook")
_REGISTERING = frozenset(
    {"atexit.register", "weakref.finalize", "signal.signal", "gc.callbacks.append", "sys.settrace", "sys.setprofile"}
)
"""Functions of Python itself that keep what they are given."""
_LOGGING = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log"})
_HOLDING = frozenset({"MemoryHandler", "BufferingHandler", "QueueHandler"})
"""Handlers of a log that hold records, and with them their arguments."""
_MAKING = frozenset({"jit", "pmap", "function", "clone_model", "Sequential", "Model"})
"""Calls that make a compiled function or a model: engines keep what they made of these."""
_JOINING = frozenset({"concatenate", "append", "vstack", "hstack", "concat", "cat", "stack"})
_NUMBERS = frozenset({"float", "int", "len", "item", "tolist", "numpy", "asnumpy", "detach", "mean", "sum"})
_EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "get", "get_nowait", "remove"})
_OF_CALLBACKS = "on_"
"""How methods of callbacks begin."""
_OF_LIBRARIES = frozenset(
    {"__getitem__", "__iter__", "__next__", "__call__", "call", "forward", "update", "update_state", "emit"}
)
"""Methods that libraries call, also in processes of their own, where nobody counts lines."""
EACH_STEP, RARELY = 0, 3
"""Ranks of lines that were counted."""
_PUTTING = frozenset({"put", "put_nowait"})
_LEAST_HITS = 8
_MORE_PUT = 1.1
"""So many times what is taken from a queue is put into one that becomes longer."""
_OF_GROWN = 0.1
"""A line that can keep less than this share of what grew is no place to look at."""
_OF_STEPS = 0.2
"""A line that ran for fewer of the steps may keep something of each epoch; those of steps come first."""


@dataclass(frozen=True)
class KeptLine:
    """A line that keeps something.

    Attributes:
        file, line: Which.
        source: Its text.
        hits: How often it ran; None: it was not counted, because a library called it.
        what: How it keeps it, as a clause.
        is_in_loop: Whether a loop of its function, or of the file, is around it.
        is_scaled: Whether its hits are an estimate: it was counted in windows.
        is_small: Whether what it keeps each time is a number, a text, or a few of these.
        is_beside: Whether it is in a function in which another thread than the main one was seen.
        is_queue: Whether it puts into a queue without a limit.
        rank: Lines of a lesser one are likelier; of equals nothing tells which it is.
    """

    file: str
    line: int
    source: str
    hits: int | None
    what: str
    is_in_loop: bool
    is_scaled: bool = False
    is_small: bool = False
    is_beside: bool = False
    is_queue: bool = False
    rank: int = field(default=0, compare=False)

    def can_keep(self, grown_bytes: float, steps: int) -> bool:
        """Whether it can have kept a good part of what grew (bytes), by how often it ran, or else by the steps."""
        times = steps if self.hits is None else self.hits
        return not self.is_small or times * SMALL_BYTES >= _OF_GROWN * grown_bytes


@dataclass(frozen=True)
class _Keeping:
    """A statement that keeps.

    Attributes:
        line: Where it begins.
        container: In which container (its text); None: in none that has a name.
        what: How, as a clause.
        values: What it keeps; empty: the source does not tell.
        is_put: Whether it may put into a queue.
        counted_at: The line whose hits tell how often, if that is another one.
    """

    line: int
    container: str | None
    what: str
    values: tuple[ast.expr, ...] = ()
    is_put: bool = False
    counted_at: int | None = None


@dataclass(frozen=True)
class _File:
    """A file of the user's.

    Attributes:
        name: Its.
        texts: Its lines.
        tree: The same, parsed.
        hits: Of lines that were counted or seen: how often they ran; None: not counted.
        beside: Lines at which other threads than the main one were seen.
    """

    name: str
    texts: list[str]
    tree: ast.Module
    hits: Mapping[int, int | None]
    beside: Collection[int]


@dataclass(frozen=True)
class _Known:
    """What all files together tell: of queues, and of how large things are."""

    queues: Queues
    sizes: Sizes


def of_run(run: Run, steps: int, *, in_workers: bool = False) -> tuple[KeptLine, ...]:
    """Such lines of a run, the likeliest first: those that ran about once a step.

    Args:
        run: The run.
        steps: Training steps of the run.
        in_workers: Whether processes below grow: libraries call methods there, and nobody counts their lines.
    """
    files: dict[str, dict[int, int | None]] = {}
    rows = run.rows("lines")
    scaled = {(row["file"], row["line"]) for row in rows if row["how"] == LineSource.SCALED}
    below = {row["file"] for row in rows if row["pid"] != run.manifest.process.pid} if in_workers else set()
    for row in rows:
        hits = files.setdefault(row["file"], {})
        # A line that begins a function has a row for each of the two; hits of one that was only sampled are null.
        hits[row["line"]] = max((one for one in (hits.get(row["line"]), row["hits"]) if one is not None), default=None)
    beside = other_threads.lines_of(run)
    parsed = [
        _File(file, texts, tree, hits, beside.get(file, ()))
        for file, hits in files.items()
        for texts in (run.folder.source_lines(file),)
        for tree in (source_loops.parsed(texts),)
        if tree is not None
    ]
    trees = [one.tree for one in parsed]
    known = _Known(source_queues.of_files(trees), Sizes(trees))
    found = [
        replace(one, is_scaled=one.hits is not None and (one.file, one.line) in scaled)
        for file in parsed
        if not below or file.name in below  # what was seen of workers tells which files run there
        for one in _in_file(file, known, in_workers=in_workers)
    ]
    ranked = [replace(one, rank=_rank(one, steps, in_workers=in_workers)) for one in found]
    return tuple(sorted(ranked, key=lambda one: (one.is_small, one.rank, one.line)))


def likeliest(lines: Sequence[KeptLine]) -> KeptLine | None:
    """The one of some lines, in their order, that nothing speaks against; None: there are several, or none."""
    equals = [one for one in lines if (one.is_small, one.rank) == (lines[0].is_small, lines[0].rank)]
    return equals[0] if len(equals) == 1 else None


def _rank(line: KeptLine, steps: int, *, in_workers: bool) -> int:
    """Lines that ran once for each step come first; then those that were not counted, if a loop is around them.

    Of workers those that were not counted come first of all.
    """
    if line.hits is None:
        return -1 if in_workers else 1 if line.is_in_loop else 2
    return EACH_STEP if line.hits >= _OF_STEPS * steps else RARELY


def _in_file(file: _File, known: _Known, *, in_workers: bool) -> Iterator[KeptLine]:
    loops = source_loops.around(file.texts)
    emptied = set(_emptied(file.tree, {line for line, hits in file.hits.items() if hits is not None and hits > 1}))
    beside = set(_functions_of(file.tree, file.beside))
    uncounted = set(_in_turns_of(file.tree, file.hits)) if all(one is None for one in file.hits.values()) else set()
    for one, by_library in _keeping(file.tree, in_workers=in_workers):
        at = one.counted_at or one.line
        hits, is_beside = file.hits.get(at), one.line in beside
        is_known = at in file.hits or one.line in uncounted or by_library or is_beside
        has_run = hits >= _LEAST_HITS if hits is not None else is_known
        is_queue = one.is_put and known.queues.is_endless(one.container or "")
        grows = is_queue and _more_is_put(one, file, hits)
        stays = one.container is None or (
            (one.container not in emptied or grows) and not known.queues.is_limited(one.container)
        )
        if has_run and stays:
            yield KeptLine(
                file.name, one.line, file.texts[one.line - 1].strip(), hits,
                f"{one.what}, a queue without a limit" if is_queue else one.what, one.line in loops,
                is_small=bool(one.values) and all(map(known.sizes.is_small, one.values)),
                is_beside=is_beside, is_queue=is_queue,
            )  # fmt: skip


def _more_is_put(put: _Keeping, file: _File, hits: int | None) -> bool:
    """Whether more is put into a queue than is taken from it, as far as both were counted."""
    taken = [
        file.hits.get(call.lineno)
        for call in _calls(file.tree)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in _EMPTYING
        and ast.unparse(call.func.value) == put.container
    ]
    if hits is None or any(one is None for one in taken):
        return True
    return hits > _MORE_PUT * sum(one or 0 for one in taken) + _LEAST_HITS


def _in_turns_of(tree: ast.AST, seen: Collection[int]) -> Iterator[int]:
    """Statements that run in each turn of a loop in which some lines were seen: those under an `if` are none.

    Of a process that was killed no line was counted, and one that takes microseconds is not sampled.
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            lines = [source_calls.lines(one) for one in node.body]
            if any(line in each for line in seen for each in lines):
                yield from (one.lineno for one in node.body)


def _functions_of(tree: ast.AST, seen: Collection[int]) -> Iterator[int]:
    """All lines of the functions in which some lines are."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = source_calls.lines(node)
            if any(line in lines for line in seen):
                yield from lines


def _keeping(tree: ast.AST, *, in_workers: bool) -> Iterator[tuple[_Keeping, bool]]:
    """Statements that keep something, inside of loops and functions: what runs once keeps little.

    Each with whether it is in a method that a library runs, whose lines may not be counted.
    """
    told: dict[int, tuple[_Keeping, bool]] = {}
    sums, logs = set(_empty_at_first(tree)), any(_called(one) in _HOLDING for one in _calls(tree))
    for scope in ast.walk(tree):
        if isinstance(scope, (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.AsyncFor)):
            by_library = isinstance(scope, ast.FunctionDef) and _is_librarys(scope.name, in_workers=in_workers)
            own = _given(scope) if by_library else frozenset()
            for statement in ast.walk(scope):
                for one in _of_statement(statement, sums, logs=logs) if isinstance(statement, ast.stmt) else ():
                    if one.container in own:
                        continue
                    _, was_by_library = told.get(one.line, (one, False))
                    told[one.line] = one, by_library or was_by_library
    yield from told.values()
    yield from ((one, False) for one in _cached(tree))


def _cached(tree: ast.AST) -> Iterator[_Keeping]:
    """Functions whose results are all kept: a cache without a limit. The first line of each runs for what is new."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(map(_is_endless_cache, node.decorator_list)):
            begin = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
            yield _Keeping(
                node.lineno, None, f"keeps each result of `{node.name}`, in a cache without a limit",
                counted_at=begin.lineno,
            )  # fmt: skip


def _is_endless_cache(decorator: ast.expr) -> bool:
    """`functools.cache`, `lru_cache(None)`; one without arguments has a limit of 128."""
    if not isinstance(decorator, ast.Call):
        return (decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")) == "cache"
    told = [*decorator.args[:1], *(one.value for one in decorator.keywords if one.arg == "maxsize")]
    return _called(decorator) == "lru_cache" and any(
        isinstance(one, ast.Constant) and one.value is None for one in told
    )


def _given(scope: ast.AST) -> Collection[str]:
    """Names that a function gives something to: a list that it makes is gone when it is over."""
    assigned = (node for node in ast.walk(scope) if isinstance(node, ast.Assign))
    return {target.id for one in assigned for target in one.targets if isinstance(target, ast.Name)}


def _is_librarys(name: str, *, in_workers: bool) -> bool:
    return name.startswith(_OF_CALLBACKS) or (in_workers and name in _OF_LIBRARIES)


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _empty_at_first(tree: ast.AST) -> Iterator[str]:
    """Names that begin as a number, or as an empty list or tuple."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and (
            isinstance(node.value, ast.Constant)
            or (isinstance(node.value, (ast.List, ast.Tuple)) and not node.value.elts)
        ):
            yield from (ast.unparse(target) for target in node.targets)


def _of_statement(statement: ast.stmt, sums: Collection[str], *, logs: bool) -> Iterator[_Keeping]:
    """What a statement keeps.

    Args:
        statement: Any.
        sums: Names that begin empty: what is added to one of these goes on growing.
        logs: Whether the log has a handler that holds records.
    """
    line = statement.lineno
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from _of_call(line, statement.value, logs=logs)
    elif isinstance(statement, ast.Assign):
        yield from _of_assignment(statement)
        yield from _of_sum(statement, sums)
    elif isinstance(statement, ast.AugAssign) and _may_hold(statement.value):
        container = ast.unparse(statement.target)
        yield _Keeping(line, container, f"adds to `{container}`", (statement.value,))


def _of_call(line: int, call: ast.Call, *, logs: bool) -> Iterator[_Keeping]:
    function = call.func
    if not isinstance(function, ast.Attribute):
        return
    container = ast.unparse(function.value)
    if f"{container}.{function.attr}" in _REGISTERING:
        yield _Keeping(line, None, f"gives one more function to `{container}.{function.attr}`")
    elif function.attr in _ADDING:
        given = (*call.args, *(one.value for one in call.keywords))
        yield _Keeping(line, container, f"adds to `{container}`", given, is_put=function.attr in _PUTTING)
    elif function.attr in _HOOKING:
        yield _Keeping(line, None, "registers one more hook")
    elif logs and function.attr in _LOGGING and len(call.args) > 1:
        yield _Keeping(line, None, "gives its arguments to a handler of the log that holds them")


def _of_sum(statement: ast.Assign, sums: Collection[str]) -> Iterator[_Keeping]:
    """`total = total + loss`, where `total` begins with nothing."""
    value, name = statement.value, ast.unparse(statement.targets[0])
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and name in sums:
        parts = [ast.unparse(value.left), ast.unparse(value.right)]
        other = value.right if parts[0] == name else value.left
        if name in parts and _may_hold(other):
            yield _Keeping(statement.lineno, None, f"adds to `{name}`")


def _of_assignment(statement: ast.Assign) -> Iterator[_Keeping]:
    line, value = statement.lineno, statement.value
    for target in statement.targets:
        if isinstance(target, ast.Subscript):
            container = ast.unparse(target.value)
            yield _Keeping(line, container, f"fills `{container}`", (value,))
        elif isinstance(target, ast.Attribute) and ast.unparse(value) == ast.unparse(target.value):
            yield _Keeping(line, None, f"makes `{ast.unparse(value)}` hold itself")
        elif isinstance(value, ast.Call):
            name = ast.unparse(target)
            given = {ast.unparse(part) for argument in value.args for part in ast.walk(argument)}
            if _called(value) in _JOINING and name in given:
                yield _Keeping(line, None, f"makes `{name}` longer")
            elif _called(value) in _MAKING:
                yield _Keeping(line, None, f"makes `{name}` anew")


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _may_hold(value: ast.expr) -> bool:
    """Whether what is added may be more than a number: a tensor with its graph, a list."""
    numbers = any(isinstance(one, ast.Call) and _called(one) in _NUMBERS for one in ast.walk(value))
    return not isinstance(value, ast.Constant) and not numbers


def _emptied(tree: ast.AST, again: Collection[int]) -> Iterator[str]:
    """Containers from which something is taken, or that begin anew each time.

    Args:
        tree: A file.
        again: Lines that ran more than once: a list that begins anew there is another one each time.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _EMPTYING:
            yield ast.unparse(node.func.value)
        elif isinstance(node, ast.Delete):
            yield from (ast.unparse(one.value) for one in node.targets if isinstance(one, ast.Subscript))
        elif isinstance(node, ast.Assign) and node.lineno in again:
            yield from (ast.unparse(target) for target in node.targets if not isinstance(target, ast.Subscript))
