"""Own loops that start each operation by itself, on an engine that could run the step as one compiled function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dlprof.analysis import loops
from dlprof.analysis.findings import doing, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.samples import Sample, is_of_input
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Ground, Phase

_PATHS = (Tree.SCRIPT, Tree.FIT_STEPS)
_SHARE_OF_WORK = 0.15
_OFTEN = 50
"""A line that ran so often is in a loop; what is built once runs operation by operation in every script."""
_CONVERSIONS = ("array", "asarray", "device_put", "constant", "convert_to_tensor", "_sync_copyfrom")
"""Functions that bring data of the host over: batches, in most loops."""
_BACKWARD = "backward"
_LEAST_FORWARD = 0.1
"""Share of the samples in a network's single operations: less may be the loss alone, which nobody compiles."""
_DEEP = 4
"""Frames between the user's line and the operation that it starts: wrappers of the engine's own."""


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where stacks show operations that a loop of the user's starts one by one."""
    if not case.engine.eager_files:
        return
    eager, paths = _eager(case), _paths(case)
    share = case.code.share(paths, eager)
    if share >= _LEAST_FORWARD and case.engine.eager_within:  # the way back is as many operations
        share += case.code.share(paths, lambda sample: any(frame.name == _BACKWARD for frame in sample.frames))
    takes = case.takes(*paths, share=case.engine.compiling_saves * share)
    if sum(takes.values()) < _SHARE_OF_WORK * case.work_ns:
        return
    line, updates = _loop_line(case, eager), _are_updates(case, paths, eager)
    yield Claim(
        Sentence(
            "The loop starts each operation by itself from Python, where one compiled function could run the step:"
        ),
        takes,
        [queries.python_stood(Phase.SCRIPT, Phase.FIT_STEPS)],
        _UPDATES if updates else f"Compile the function that makes a step: {case.engine.compile_with}.",
        line,
        basis=Basis.ESTIMATED,
        support=case.code.support(paths, eager, ground=Ground.REPEATED, agree=min(1.0, 2 * share)),
        fix=case.engine.update_in_place if updates else _fix(case, line),
    )


_UPDATES = (
    "Most of these operations change a part of an array, and each makes a copy of all of it: change it in place "
    "outside of the engine, or in a compiled function that may overwrite it."
)


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


def _eager(case: Case) -> Callable[[Sample], bool]:
    """Tells whether a sample stands in an operation that a line of a loop started, and no function is being traced."""
    often = case.code.lines_of_loops(_OFTEN)
    users, engine = case.code.user_files, case.engine

    def is_eager(sample: Sample) -> bool:
        mine = [number for number, frame in enumerate(sample.frames) if frame.file in users]
        in_loop = any((sample.frames[n].file, sample.frames[n].line) in often for n in mine)
        if not in_loop or is_of_input(sample):
            return False
        others = (*_CONVERSIONS, *engine.waiting_functions)
        if any(frame.name in others for frame in sample.frames[: mine[0]]):
            return False
        if any(frame.name in engine.compiled_functions for frame in sample.frames):
            return False
        if any(frame.file.startswith(engine.tracing_files) for frame in sample.frames[mine[0] + 1 :]):
            return False
        if engine.eager_within:
            inside = any(frame.file.startswith(engine.eager_within) for frame in sample.frames)
            return inside and any(frame.file.startswith(engine.eager_files) for frame in sample.frames)
        started = sample.frames[max(0, mine[0] - _DEEP) : mine[0]]
        is_started = any(frame.file.startswith(engine.eager_files) for frame in started)
        return is_started or doing.goes_back(sample.frames, engine)

    return is_eager


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


def _fix(case: Case, line: SourceLine | None) -> str:
    text = case.code.source(*line).strip() if line is not None else ""
    return f"{case.engine.compile_with}: the function called in `{text}`" if text else case.engine.compile_with
