"""What a comparison must know of a training before it may speak of speed, and the settings that slow an engine down.

Read once, where `fit` begins: nothing here is asked again while it runs.
"""

import math
import os
import sys

from dlprof_probes.inproc import interrupts

_cpu_count = os.cpu_count
_affinity = getattr(os, "sched_getaffinity", None)

_VALUES_AT_MOST = 2 << 20
"""Weights are summed up to so many values: reading those of a large model would take time."""
_ROWS = 16
"""Rows of the data whose mean is taken."""
_STATE = "keras.src.backend.common.global_state"
_RENAMED = {"lr": "learning_rate"}


def of_training(model, engines, values=True):
    """Settings of Keras, of the model's training, and its initial weights (as sums: their order differs by backend).

    Args:
        model: A model of Keras.
        engines: `Engines`.
        values: Whether to read the weights: of the first training they are the initial ones, and reading takes time.
    """
    facts = settings_of_keras()
    for name in ("run_eagerly", "jit_compile", "steps_per_execution"):
        value = quiet(lambda name=name: vars(model).get("_" + name, vars(model).get(name)))
        if isinstance(value, (bool, int)):
            facts[name] = value
    facts["loss"] = _name(getattr(model, "loss", None))
    readable = not any(engine.is_session_based for engine, _ in engines.loaded())
    facts["optimizer"] = quiet(lambda: _optimizer(model, readable))
    facts["weights"] = quiet(lambda: _weights(model, readable and values))
    facts["threads"] = threads(engines)
    facts["flags"] = flags(engines)
    return dict((name, value) for name, value in facts.items() if value is not None)


def of_data(arrays, means=True):
    """Shape, type and, if asked for, mean of the first rows of each array; None for what is no array."""
    return [quiet(lambda one=one: _array(one, means)) for one in arrays]


def data_key(arrays):
    """What tells the facts of arrays, without means, from those of others."""
    return tuple((str(getattr(one, "shape", None)), str(getattr(one, "dtype", None))) for one in arrays)


def of_memory(engines):
    """What the engines' own allocators count, by engine; those that count nothing are left out."""
    told = dict((engine.name, quiet(lambda e=engine, m=module: e.allocated(m))) for engine, module in engines.loaded())
    return dict((name, counted) for name, counted in told.items() if counted)


def quiet(read):
    """What `read()` gives; None where an engine of another version has it elsewhere."""
    try:
        return read()
    except Exception as error:
        if interrupts.is_from_handler(error):
            raise
        return None


def settings_of_keras():
    """Types and layout of layers that are told none; None each: no Keras is loaded that has it."""
    keras = sys.modules.get("keras") or sys.modules.get("tf_keras")
    backend = getattr(keras, "backend", None) or getattr(keras, "config", None)
    floatx = quiet(lambda: str(backend.floatx()))
    return {
        "floatx": floatx,
        "layout": quiet(lambda: str(backend.image_data_format())),
        "policy": quiet(lambda: _policy(keras, floatx)),
    }


def _policy(keras, floatx):
    """Name of the types of layers that are told none.

    To ask Keras 3 for it sets it: a floatx that the script sets afterwards would change no layer. So its state is
    looked at, and where nothing is set, layers have `floatx`.
    """
    state = sys.modules.get(_STATE)
    if state is not None:
        policy = state.get_global_attribute("dtype_policy")
        return floatx if policy is None else str(policy.name)
    if hasattr(keras, "config"):
        return str(keras.config.dtype_policy().name)
    return str(keras.mixed_precision.global_policy().name)  # Keras 2 from 2.4 on


def _name(value):
    return value if isinstance(value, str) else getattr(value, "name", None) or getattr(value, "__name__", None)


def _plain(value):
    """A number of the standard library, or None."""
    if value is None or isinstance(value, (bool, int, str, dict, list, tuple)):
        return value if isinstance(value, (bool, int, str)) else None
    value = float(value)
    return value if math.isfinite(value) else None


def _optimizer(model, readable):
    optimizer = model.optimizer
    facts = {"class": type(optimizer).__name__}
    if readable:
        for name, value in optimizer.get_config().items():
            number = quiet(lambda value=value: _plain(value))
            if number is not None and not isinstance(number, str):
                facts[_RENAMED.get(name, name)] = number
    return facts


def _weights(model, readable):
    """Number of weights, their type, and of each of the first ones, if `readable`: size, sum and sum of squares."""
    known = list(model.trainable_weights)
    if not known:
        return None
    facts = {"count": sum(_size(one) for one in known), "dtype": _dtype(known[0])}
    if not readable:
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
    text = str(getattr(weight, "dtype", ""))
    if text.startswith("<"):  # <dtype: 'float32'> of TensorFlow, <class 'numpy.float32'> of CNTK
        text = text.split("'")[1]
    return text.rpartition(".")[2]  # torch.float32


def _numpy(weight):
    keras = sys.modules["keras"]
    convert = getattr(getattr(keras, "ops", None), "convert_to_numpy", None)
    if convert is None:
        return keras.backend.get_value(weight)
    # NumPy 2 warns of arrays of variables of Keras and TensorFlow, but not of what these hold, or give themselves.
    value = getattr(weight, "value", None)
    value = weight if value is None or callable(value) else value
    given = quiet(value.numpy) if value is not weight and hasattr(value, "numpy") else None
    return convert(value) if given is None else given


def _array(array, mean):
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        return None
    facts = {"shape": [int(length) for length in array.shape], "dtype": _dtype(array)}
    if not mean:
        return facts
    first = array[:_ROWS]
    if hasattr(first, "astype") and len(first):
        mean = float(first.astype("float64").mean())
        facts["mean"] = mean if math.isfinite(mean) else None
    return facts


def threads(engines):
    """How many threads each engine was told, or decided, to compute with; the cores that it may use."""
    counts = {"usable_cores": quiet(lambda: len(_affinity(0))) or _cpu_count()}
    for engine, module in engines.loaded():
        count = quiet(lambda engine=engine, module=module: engine.threads(module))
        if count is not None:
            counts[engine.module] = quiet(lambda count=count: int(count))
    return dict((name, count) for name, count in counts.items() if count is not None)


def flags(engines):
    """Switches of the loaded engines that make them slower than they need be: `name` to its value."""
    values = {}
    for engine, module in engines.loaded():
        for name, read in engine.switches:
            value = quiet(lambda read=read, module=module: read(module))
            if value:
                values[name] = value if isinstance(value, (bool, str)) else True
    return values
