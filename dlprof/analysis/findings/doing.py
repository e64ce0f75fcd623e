"""What a thread was seen to do, by the libraries on its stack."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from dlprof.analysis.stacks import Frame
from dlprof.engines.base import EngineSpec

_SLEEPS = re.compile(r"\bsleep\(")
COMPILING = "compiling"
RUNNING = "running a graph"
FOR_A_PROCESS = "waiting for a process"
STARTS_PROCESSES = "<python>/subprocess.py"
THREADS = ("<python>/threading.py", "<python>/queue.py", "<python>/concurrent/")
"""Beginnings of the names of Python's own files that wait for another thread."""
WAITS = ("<python>/threading.py", "<python>/queue.py", "<python>/subprocess.py", "<python>/selectors.py",
          "<python>/multiprocessing/", "<python>/concurrent/", "<python>/socket.py", "<python>/ssl.py",
          "<python>/http/", "<python>/urllib/", "urllib3/", "requests/")  # fmt: skip
"""Files of libraries in which a thread waits for something that is not the engine."""
_BY_FILES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("importing", ("<frozen importlib", "<python>/importlib/")),
    (FOR_A_PROCESS, (STARTS_PROCESSES, "<python>/multiprocessing/")),
    ("waiting for a thread", THREADS),
    ("on the network", ("<python>/socket.py", "<python>/ssl.py", "<python>/http/", "<python>/urllib/", "urllib3/")),
    (
        RUNNING,
        (
            "tensorflow/python/eager/polymorphic_function/atomic_function.py", "torch/_inductor/output_code.py",
            "torch/_functorch/_aot_autograd/runtime_wrappers.py",
        ),
    ),
    (
        COMPILING,
        (
            "jax/_src/compiler.py", "jax/_src/interpreters/mlir.py", "jax/_src/interpreters/partial_eval.py",
            "torch/_inductor/", "torch/_dynamo/", "torch/_functorch/", "torch/fx/",
            "tensorflow/python/eager/polymorphic_function/", "tensorflow/python/framework/func_graph.py",
            "theano/compile/", "theano/gof/", "theano/link/", "theano/graph/", "numba/core/",
        ),
    ),
    ("packing and unpacking data", ("<python>/pickle.py", "<python>/json/", "<python>/gzip.py", "<python>/zipfile")),
)  # fmt: skip
_PASSING_ON = ("torch/_dynamo/eval_frame.py", "torch/_dynamo/external_utils.py")
"""Files of wrappers that say nothing of what they call: a compiled graph, or what is never to be one (`zero_grad`)."""


def of_stack(frames: Sequence[Frame], users: Collection[str], engine: EngineSpec) -> str | None:
    """What the user's innermost line had called, as `compiling`; None: its stack does not tell.

    Args:
        frames: Innermost first.
        users: Files of the user's own code.
        engine: What is known of the engine.
    """
    for frame in frames:
        if frame.file in users:
            return None
        if frame.name in engine.backward_functions:
            return "computing gradients"
        if frame.file in _PASSING_ON:
            continue
        told = next((name for name, files in _BY_FILES if frame.file.startswith(files)), None)
        if told is not None:
            return told
    return None


def waits_for_thread(frames: Sequence[Frame]) -> bool:
    """Whether a thread stands in Python's own code that waits for another: for an item, or for room for one."""
    return frames[0].file.startswith(THREADS)


def waits_for_another(frames: Sequence[Frame]) -> bool:
    """Whether a thread stands in Python's own code that waits for a thread, a process or an event of its loop."""
    return frames[0].file.startswith((*THREADS, "<python>/selectors.py", "<python>/multiprocessing/"))


def sleeps(text: str) -> bool:
    """Whether a line of source makes a pause: that leaves no frame of its own."""
    return _SLEEPS.search(text) is not None


def goes_back(frames: Sequence[Frame], engine: EngineSpec) -> bool:
    """Whether the engine computes gradients of operators that ran one by one."""
    return any(frame.name in engine.backward_functions for frame in frames)
