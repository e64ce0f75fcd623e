"""What a comparison must know of a training before it may speak of speed, and the settings that slow an engine down.

Read once, where `fit` begins: nothing here is asked again while it runs.
"""

import math
import os
import sys

_VALUES_AT_MOST = 2 << 20
"""Weights are summed up to so many values: reading those of a large model would take time."""
_ROWS = 16
"""Rows of the data whose mean is taken."""
_RENAMED = {"lr": "learning_rate"}


def of_training(model):
    """Settings of Keras, of the model's training, and its initial weights (as sums: their order differs by backend)."""
    facts = _keras()
    for name in ("run_eagerly", "jit_compile", "steps_per_execution"):
        value = _quiet(lambda name=name: vars(model).get("_" + name, vars(model).get(name)))
        if isinstance(value, (bool, int)):
            facts[name] = value
    facts["loss"] = _name(getattr(model, "loss", None))
    facts["optimizer"] = _quiet(lambda: _optimizer(model))
    facts["weights"] = _quiet(lambda: _weights(model))
    facts["threads"] = threads()
    facts["flags"] = flags()
    return dict((name, value) for name, value in facts.items() if value is not None)


def of_data(arrays):
    """Shape, type and mean of the first rows of each array; None for what is no array."""
    return [_quiet(lambda one=one: _array(one)) for one in arrays]


def _quiet(read):
    """What `read()` gives; None where an engine of another version has it elsewhere."""
    try:
        return read()
    except Exception:
        return None


def _keras():
    keras = sys.modules.get("keras") or sys.modules.get("tf_keras")
    backend = getattr(keras, "backend", None) or getattr(keras, "config", None)
    return {
        "floatx": _quiet(lambda: str(backend.floatx())),
        "layout": _quiet(lambda: str(backend.image_data_format())),
        "policy": _quiet(lambda: str(keras.config.dtype_policy().name)),
    }


def _name(value):
    return value if isinstance(value, str) else getattr(value, "name", None) or getattr(value, "__name__", None)


def _plain(value):
    """A number of the standard library, or None."""
    if isinstance(value, (bool, int, str)):
        return value
    value = float(value)
    return value if math.isfinite(value) else None


def _is_session_based():
    """Whether reading a variable would make a session, which is the script's own business."""
    return sys.modules.get("cntk") is not None or getattr(sys.modules.get("tensorflow"), "__version__", "2").startswith(
        "1."
    )


def _optimizer(model):
    optimizer = model.optimizer
    facts = {"class": type(optimizer).__name__}
    if not _is_session_based():
        for name, value in optimizer.get_config().items():
            number = _quiet(lambda value=value: _plain(value))
            if number is not None and not isinstance(number, str):
                facts[_RENAMED.get(name, name)] = number
    return facts


def _weights(model):
    """Number of weights, their type, and of each of the first ones: size, sum and sum of squares."""
    known = list(model.trainable_weights)
    if not known:
        return None
    facts = {"count": sum(_size(one) for one in known), "dtype": _dtype(known[0])}
    if _is_session_based():
        return facts
    sums, left = [], _VALUES_AT_MOST
    for one in known:
        left -= _size(one)
        if left < 0:
            break
        values = _numpy(one).astype("float64")
        sums.append([int(values.size), float(values.sum()), float((values * values).sum())])
    facts["sums"] = sums
    return facts


def _size(weight):
    total = 1
    for length in getattr(weight, "_keras_shape", weight.shape):  # that of Theano is symbolic
        total *= int(length)
    return total


def _dtype(weight):
    return str(getattr(weight, "dtype", "")).replace("torch.", "").replace("<dtype: '", "").replace("'>", "")


def _numpy(weight):
    keras = sys.modules["keras"]
    convert = getattr(getattr(keras, "ops", None), "convert_to_numpy", None)
    return convert(weight) if convert is not None else keras.backend.get_value(weight)


def _array(array):
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        return None
    facts = {"shape": [int(length) for length in array.shape], "dtype": _dtype(array)}
    first = array[:_ROWS]
    if hasattr(first, "astype") and len(first):
        mean = float(first.astype("float64").mean())
        facts["mean"] = mean if math.isfinite(mean) else None
    return facts


def threads():
    """How many threads each engine was told, or decided, to compute with; the cores that it may use."""
    found = {"usable_cores": _quiet(lambda: len(os.sched_getaffinity(0))) or os.cpu_count()}
    for name, read in _THREADS:
        if name in sys.modules:
            found[name] = _quiet(lambda read=read, name=name: int(read(sys.modules[name])))
    return dict((name, value) for name, value in found.items() if value is not None)


def _of_mxnet(_module):
    """MXNet takes OpenMP's number, or half of what OpenMP sees where that is not set."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    return int(told) if told.isdigit() else max(1, len(os.sched_getaffinity(0)) >> 1)


_THREADS = (
    ("torch", lambda module: module.get_num_threads()),
    ("tensorflow", lambda module: module.config.threading.get_intra_op_parallelism_threads()),
    ("mxnet", _of_mxnet),
    ("theano", lambda module: os.environ["OMP_NUM_THREADS"] if module.config.openmp else 1),
)


def flags():
    """Switches of the loaded engines that make them slower than they need be: `name` to its value."""
    found = {}
    for engine, name, read in _FLAGS:
        if engine in sys.modules:
            value = _quiet(lambda read=read, engine=engine: read(sys.modules[engine]))
            if value:
                found[name] = value if isinstance(value, (bool, str)) else True
    return found


def _is_off(name):
    return os.environ.get(name, "").lower() in ("0", "false")


_FLAGS = (
    ("tensorflow", "tf.config.run_functions_eagerly", lambda tf: tf.config.functions_run_eagerly()),
    (
        "tensorflow.python.debug.lib.check_numerics_callback",
        "tf.debugging.enable_check_numerics",
        lambda module: hasattr(module._state, "check_numerics_callback"),
    ),
    (
        "tensorflow.python.framework.config",
        "tf.config.experimental.enable_op_determinism",
        lambda module: module.is_op_determinism_enabled(),
    ),
    ("tensorflow", "TF_ENABLE_ONEDNN_OPTS=0", lambda _tf: _is_off("TF_ENABLE_ONEDNN_OPTS")),
    ("torch", "torch.autograd.set_detect_anomaly", lambda torch: torch.is_anomaly_enabled()),
    ("torch", "torch.backends.mkldnn.enabled = False", lambda torch: not torch.backends.mkldnn.enabled),
    (
        "torch",
        "torch.use_deterministic_algorithms",
        lambda torch: torch.are_deterministic_algorithms_enabled(),
    ),
    ("jax", "jax_debug_nans", lambda jax: jax.config.jax_debug_nans),
    ("jax", "jax_debug_infs", lambda jax: jax.config.jax_debug_infs),
    ("jax", "jax_disable_jit", lambda jax: jax.config.jax_disable_jit),
    ("jax", "jax_check_tracer_leaks", lambda jax: jax.config.jax_check_tracer_leaks),
    ("mxnet", "MXNET_ENGINE_TYPE=NaiveEngine", lambda _mx: os.environ.get("MXNET_ENGINE_TYPE") == "NaiveEngine"),
    ("mxnet", "MXNET_EXEC_BULK_EXEC_TRAIN=0", lambda _mx: _is_off("MXNET_EXEC_BULK_EXEC_TRAIN")),
    ("theano", "theano mode", lambda theano: _slow_mode(theano.config)),
)


def _slow_mode(config):
    """The mode of Theano where it is one for debugging."""
    told = [str(config.mode), str(config.optimizer), str(config.linker)]
    return next(
        (one for one in told if one in ("FAST_COMPILE", "DebugMode", "NanGuardMode", "fast_compile", "py")), None
    )
