"""Python code takes the time: the user's own in the middle of steps or around the training, or that of Keras."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import kernels
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.samples import Sample
from dlprof.engines import combined
from dlprof.schema.vocabulary import PseudoLayer

_SHARE_OF_WORK = 0.05
_SHARE_OF_SCRIPT = 0.10
"""A script may load its data and build its model."""
_TINY_NS, _MANY = 20_000, 300
"""Shorter operators are tiny; a layer that starts so many of them in a step goes through its rows one by one."""
_ENGINES = ("tensorflow/", "torch/", "jax/", "jaxlib/", "mxnet/", "theano/", "keras/", "cntk/", "chainer/", "openvino/")
_SCRIPT = ("script", "data")
_BACKWARD = frozenset(["_engine_run_backward", "imperative_grad"])
"""Functions of torch and TensorFlow that go back through operators which ran one by one."""


def look(case: Case) -> Iterator[Claim]:
    """Stacks in user code inside steps; the script's own lines outside; in a pair, what Keras' Python takes more."""
    work = sum(case.own(top) for top in ("fit", "script", "data", "evaluate", "predict")) or 1
    yield from _in_steps(case, work)
    yield from _in_script(case, work)
    if case.pair and case.time("fit/steps/host_python") > _SHARE_OF_WORK * work:
        yield Claim(
            "Python between the operations of a step, of Keras or of the script, takes {time} more, {share}.",
            case.takes("fit/steps/host_python", "predict/steps/host_python", "construct"),
            [queries.python_stood("fit.steps")],
            "Larger batches, steps_per_execution, or a compiled step have Python run less often.",
        )


def _in_steps(case: Case, work: int) -> Iterator[Claim]:
    """User code that runs inside steps: a layer, a loss or a metric in Python."""
    main = case.sampled(("fit/steps",), lambda one: _is_python(case, one))
    busy = case.own("fit/steps/kernels") / max(1, case.own("fit/steps"))
    main = min(main, max(0.0, 1 - busy + _tiny(case.operators))) if case.tree.unsplit is None else main
    # Stacks of other threads stand beside kernels, too; operators tell for how long they really ran.
    beside = case.sampled(("fit/steps",), lambda one: _is_python(case, one) and not case.feeds(one), main=False)
    stood = max(main, beside if case.tree.unsplit is not None else _called_back(case.operators))
    share = max(stood, _started_one_by_one(case, case.operators) if main else 0.0)
    if share * case.own("fit/steps") < _SHARE_OF_WORK * work:
        return
    whole = max(1, sum(case.takes("fit/steps").values()))
    wanted = int(share * case.own("fit/steps"))
    order = ("host_python", "dispatch", "idle", "sync", "edges", "input", "kernels")
    takes: dict[str, int] = {}
    for name in order:
        for leaf, ns in case.takes(f"fit/steps/{name}").items():
            part = min(ns, wanted)
            wanted -= part
            takes[leaf] = part
    if not takes:
        takes = case.takes("fit/steps", share=min(1.0, share * case.own("fit/steps") / whole))
    yield Claim(
        "Python code of the script runs inside the steps, where graphs and kernels should: {time}, {share}.",
        takes,
        [
            queries.python_stood("fit.steps", where="f.file IN (SELECT file FROM lines)"),
            *([queries.operators(by="layer")] if share > stood else []),
        ],
        "Write it with operations of keras.ops or of the engine, over whole arrays.",
        case.hottest_user_line(("fit/steps",), lambda one: _is_python(case, one), main=None)
        or case.line_with("py_function(", "numpy_function(", "pure_callback(", "CustomOp"),
        basis="estimated" if share > stood else "measured",
    )


def _tiny(found: kernels.Kernels) -> float:
    """Share of the steps in operators so small that the Python which starts them is what they cost."""
    tiny = sum(row.total_ns for row in found.rows if row.mean_ns < _TINY_NS)
    return tiny / found.window_ns if found.window_ns else 0.0


def _started_one_by_one(case: Case, found: kernels.Kernels) -> float:
    """Share of the steps for layers that start very many tiny operators: their Python, and their part of going back.

    Forward the script's own frames are seen; backward the engine starts what these layers left behind, without Python.
    """
    steps = sum(row["steps"] or 0 for row in case.run.rows("kernel_windows")) if case.tree.unsplit is None else 0
    tiny: dict[str | None, int] = {}
    for row in found.rows:
        if row.mean_ns < _TINY_NS:
            tiny[row.keys.get("layer")] = tiny.get(row.keys.get("layer"), 0) + row.count
    layers = {layer for layer, count in tiny.items() if steps and layer is not None and count >= _MANY * steps}
    if not layers:
        return 0.0
    back = [row for row in found.rows if row.keys.get("direction") == "backward"]
    theirs = sum(row.count for row in back if row.keys.get("layer") in layers) / max(1, sum(row.count for row in back))
    forward = case.sampled(("fit/steps",), case.is_called_back)
    return min(1.0, forward + theirs * case.sampled(("fit/steps",), _goes_back))


def _goes_back(sample: Sample) -> bool:
    """Whether the engine computes gradients of operators that ran one by one."""
    return any(function in _BACKWARD for function, _file, _line in sample.frames)


def _called_back(found: kernels.Kernels) -> float:
    """Share of the steps in which an operator ran that calls a function of Python."""
    calling = [row for row in found.rows if row.keys.get("op") in combined.python_operators()]
    inside = sum(row.union_ns or 0 for row in calling if row.keys.get("layer") != PseudoLayer.INPUT)
    return min(1.0, inside / found.window_ns) if found.window_ns else 0.0


def _is_python(case: Case, sample: Sample) -> bool:
    """Whether user code that was called back runs in Python itself, or in numpy, and not in the engine."""
    if not case.is_called_back(sample):
        return False
    for _function, file, _line in sample.frames:
        if file in case.user_files:
            return True
        if not file.startswith(("<", "numpy/")):
            return False
    return False


def _is_own(sample: Sample) -> bool:
    """Whether Python itself, a library of its kin or the script runs, and not an engine that the script called."""
    return not sample.frames[0][1].startswith(_ENGINES)


def _in_script(case: Case, work: int) -> Iterator[Claim]:
    """The script's own lines, outside Keras."""
    share = case.sampled(_SCRIPT, _is_own) if case.samples else 1.0
    takes = case.takes(*_SCRIPT, share=share)
    if sum(takes.values()) < _SHARE_OF_SCRIPT * work:
        return
    place = case.hottest_user_line(_SCRIPT, _is_own)
    yield Claim(
        "The script's own Python, outside of Keras, takes {time}, {share}.",
        takes,
        [
            (
                "lines of the script",
                "SELECT file, line, hits, time_ns, source FROM lines ORDER BY time_ns DESC LIMIT 8",
            ),
            queries.python_stood("script", "data"),
        ],
        "Replace loops over rows or pixels by operations on whole arrays; keep the prepared data in a file."
        + case.counting_note,
        place,
    )
