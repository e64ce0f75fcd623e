"""The change that a finding asks for: the line of the file as it should be, else the API of this run's engine."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from types import MappingProxyType

from dlprof.analysis import loops
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, SourceLine
from dlprof.analysis.loops import FoundBy
from dlprof.schema.vocabulary import SpanKind

_ANY = ""
_LINES: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "eager-execution": (
            (r"run_eagerly\s*=\s*True", "run_eagerly=False"),
            (r"run_functions_eagerly\(\s*True\s*\)", "run_functions_eagerly(False)"),
        ),
        "jit-off": ((r"jit_compile\s*=\s*False", 'jit_compile="auto"'),),
        "double-precision": (
            (r"\.double\(\)", ".float()"),
            (r"set_floatx\(\s*(['\"])float64\1\s*\)", r"set_floatx(\1float32\1)"),
            (r"\bfloat64\b", "float32"),
        ),
        "half-precision": (
            (r"(['\"])mixed_b?float16\1", r"\1float32\1"),
            (r"\.(half|bfloat16)\(\)", ".float()"),
            (r"\bautocast\(([^()]*)\benabled\s*=\s*[\w.]+", r"autocast(\1enabled=False"),
            (r"\bautocast\(\s*\)", "autocast(enabled=False)"),
            (r"\bautocast\(([^()]+)\)", r"autocast(\1, enabled=False)"),
        ),
        "debug-mode": (
            (r"set_detect_anomaly\(\s*True", "set_detect_anomaly(False"),
            (r"(jax_debug_nans['\"]\s*,\s*)True", r"\1False"),
        ),
    }
)
"""By rule: what stands in a line, and what should. Only where the change says the same in every script."""
GLUON_SHARES = "their batches are in shared memory: x.as_in_context(mx.cpu()) for a hybridized network"
"""Of worker processes of Gluon. On a processor such a network refuses what is in a context of another kind."""
_APIS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "input-bound": {
            "torch": "DataLoader(..., num_workers=N, persistent_workers=True), or index whole batches: X[rows]",
            "tensorflow": "dataset.batch(N).map(f, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)",
            "mxnet": f"gluon.data.DataLoader(..., num_workers=N) ({GLUON_SHARES}), with transforms of whole "
            "batches; of a DataIter mx.io.PrefetchingIter(it)",
        },
        "io-bound": {_ANY: "open the file once, outside of what makes each batch, and keep the arrays"},
        "eager-execution": {"jax": "put @jax.jit above the function of the step"},
        "retracing": {
            "tensorflow": "pass tensors (tf.constant(n)), not Python numbers; @tf.function(reduce_retracing=True)",
            "jax": "mark what is no number as static_argnums, pad arrays to one shape",
            "torch": "torch.compile(model, dynamic=True)",
            "tensorflow1": "make operations and sessions once, before the loop; tf.get_default_graph().finalize()",
        },
        "graph-compile-dominates": {
            "jax": "jax.lax.scan in place of a Python loop; jax.config.update('jax_compilation_cache_dir', ...)",
            "torch": "torch.compile the repeated block, not the whole model",
            "theano": "theano.config.mode = 'FAST_COMPILE' for short trainings; unroll=False",
        },
        "dispatch-bound": {_ANY: "a larger batch_size"},
        "gc-pressure": {_ANY: "gc.freeze() before the training; keep fewer objects from step to step"},
        "checkpoint-heavy": {_ANY: "save every n-th epoch, or once at the end: if epoch % n == 0"},
        "validation-heavy": {_ANY: "evaluate every n-th epoch, or on fewer rows: if epoch % n == 0"},
        "iterator-restart": {"tensorflow": "dataset.repeat() with steps_per_epoch, or dataset.cache()"},
        "wasteful-layer": {
            "torch": "x.mean((2, 3)) in place of flatten, and as many inputs of the layer as there are channels",
            "mxnet": "gluon.nn.GlobalAvgPool2D() before the layer",
            _ANY: "the mean over the positions of the maps in place of flattening them",
        },
        "constant-in-graph": {
            "jax": "give the array to the compiled function as an argument: step(params, batch, table)",
            "tensorflow": "table = tf.constant(array) outside of @tf.function: what a function captures is not copied",
        },
        "workers-restarted": {"torch": "DataLoader(..., persistent_workers=True)"},
    }
)
"""By rule and engine: the API and its argument. Never that of another engine."""
_OF_KERAS_3: Mapping[str, str] = MappingProxyType(
    {
        "input-bound": "a keras.utils.PyDataset(workers=N, max_queue_size=M) that makes whole batches",
        "checkpoint-heavy": "ModelCheckpoint(..., save_freq='epoch'), or save every n-th epoch",
        "validation-heavy": "fit(..., validation_freq=n), or a smaller validation_data",
        "wasteful-layer": "GlobalAveragePooling2D() in place of Flatten()",
        "retracing": "make and compile the model once, before the loop; batches of one shape (drop_remainder=True)",
        "eager-execution": "compile(...) without run_eagerly=True",
    }
)
_OF_KERAS_2: Mapping[str, str] = MappingProxyType(
    {
        **_OF_KERAS_3,
        "input-bound": "a keras.utils.Sequence that makes whole batches, with fit_generator(..., workers=N)",
        "checkpoint-heavy": "ModelCheckpoint(..., period=n), or save every n-th epoch",
        "validation-heavy": "a smaller validation_data, or evaluate every n-th epoch",
        "retracing": "make and compile the model once, before the loop; batches of one shape",
    }
)
"""By rule, where Keras runs the training, whatever the engine."""
_EPOCHS = 2
"""From so many on, what one has made can be kept for the next."""
_OWN_LOADERS = "DataLoader"
"""Kind of loader that is the engine's own, also under Keras."""


def of_claim(case: Case, slug: str, claim: Claim) -> str | None:
    """The change as a unified diff, or a sentence with the API of this engine; None: none is known."""
    changed = _changed(case, slug, claim.line) if claim.line is not None else None
    known = _APIS.get(slug, {})
    api = _of_keras(case, slug) or known.get(case.backend) or known.get(_ANY)
    kept = _kept(case) if slug == "input-bound" else None
    return changed or (f"{kept}; else {api}" if kept and api else kept or api)


def _kept(case: Case) -> str | None:
    """How to keep what tf.data maps for the next epoch; None: it maps nothing, keeps it, or there is one epoch."""
    if not case.engine.tunes_input or case.run.row_count("epochs") < _EPOCHS or case.code.written(r"\.cache\("):
        return None
    mapped = case.code.written(r"\.map\(")
    if mapped is None:
        return None
    where = "where that makes the same in each epoch, and it fits into memory"
    return f".cache() behind .map(...) at line {mapped[1]}, {where}"


def _of_keras(case: Case, slug: str) -> str | None:
    """What Keras itself has for it; None: it does not run the training, or what the engine has is what was used."""
    keras = case.run.manifest.keras
    if keras is None or not _runs_keras(case) or (slug == "input-bound" and _feeds_itself(case)):
        return None
    return (_OF_KERAS_2 if _is_before_tensorflow_2(keras.version or "") else _OF_KERAS_3).get(slug)


def _is_before_tensorflow_2(version: str) -> bool:
    """Whether it is a Keras of its own, before 2.4; that of TensorFlow 2 has the arguments of Keras 3."""
    numbers = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    return bool(numbers) and numbers < [2, 4]


def _runs_keras(case: Case) -> bool:
    """Whether Keras runs the training: TensorFlow imports it for scripts with loops of their own, too."""
    found = loops.of_run(case.run)
    return any(loop.how is FoundBy.KERAS for loop in found) if found else bool(case.calls.of(SpanKind.FIT))


def _feeds_itself(case: Case) -> bool:
    """Whether the engine's own loader gives Keras its batches: TensorFlow always has tf.data."""
    inside = case.run.manifest.backend.input_inside_step
    return inside or any(row["kind"] == _OWN_LOADERS for row in case.run.rows("loaders"))


def _changed(case: Case, slug: str, line: SourceLine) -> str | None:
    old = case.code.source(*line)
    for pattern, new in _LINES.get(slug, ()):
        if re.search(pattern, old):
            return diff(case, line, [re.sub(pattern, new, old)])
    return None


def diff(case: Case, line: SourceLine, new: list[str]) -> str | None:
    """A unified diff that puts other lines in the place of one; None: no copy of the file was kept.

    Args:
        case: The run.
        line: File and number of the line.
        new: What is to stand there.
    """
    file, number = line
    lines = case.code.lines(file)
    if not 0 < number <= len(lines):
        return None
    changed = [*lines[: number - 1], *new, *lines[number:]]
    return "\n".join(difflib.unified_diff(lines, changed, file, file, n=0, lineterm=""))
