"""Keras 3, and the Keras 2 that grew up inside TensorFlow (2.4 to 2.15, tf_keras)."""

import sys
from functools import partial

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.hooks import keras_common as common
from dlprof_probes.inproc.hooks import keras_workers
from dlprof_probes.inproc.patching import each_definer
from dlprof_probes.inproc.waits import LEAST_NS

_BATCHES = tuple(("on_%s_batch_begin" % loop, "on_%s_batch_end" % loop) for loop in ("train", "test", "predict"))


def ready(modules):
    """Whether a Keras of this kind is loaded to its end under the name `keras`."""
    return _ready(modules.get("keras"))


def ready_tf_keras(modules):
    """Whether the package `tf_keras` is loaded to its end."""
    return _ready(modules.get("tf_keras"))


def _ready(keras):
    model = getattr(keras, "Model", None)
    return hasattr(model, "make_predict_function") and hasattr(keras, "callbacks") and hasattr(keras, "Sequential")


def attach(probe, keras):
    """Hook every phase."""
    probe.recorder.meta({"keras": keras.__name__, "keras_version": _version(keras), "keras_backend": _backend(keras)})
    models = [keras.Model, keras.Sequential]
    functional = getattr(sys.modules.get("keras.src.models.functional"), "Functional", None)
    if functional is not None:
        models.append(functional)
    common.model_methods(probe, models)
    common.layers(probe, keras.layers.Layer)
    common.step_functions(probe, models, "make_%s_function")
    for owner in each_definer(models, "_symbolic_build"):
        probe.span(owner, "_symbolic_build", wire.SpanKind.BUILD, "symbolic build")
    callback_list = keras.callbacks.CallbackList
    common.epochs(probe, callback_list)
    common.batches(probe, callback_list, _BATCHES)
    _values(probe, callback_list)
    _input(probe, models)
    _generators(probe)
    keras_workers.attach(probe, sys.modules)
    classes = common.KerasClasses(keras, models, keras.layers.Layer, is_classic=False)
    common.use_engine(probe, _backend(keras), classes)
    common.data_and_files(probe, keras)
    optimizer = getattr(getattr(keras, "optimizers", None), "Optimizer", None)
    name = "apply" if hasattr(optimizer, "apply") else "apply_gradients"
    common.own_updates(probe, _backend(keras), optimizer, name)


def _version(keras):
    return str(getattr(keras, "__version__", ""))


def _backend(keras):
    try:
        return keras.backend.backend()
    except Exception:
        return "tensorflow"


def _metrics(probe, callback_list):
    """Take the metrics of a batch where Keras turns them into numbers for its own callbacks.

    With asynchronous callbacks that happens on another thread, so the loop is found by its list of
    callbacks, not by the thread.
    """
    python_utils = sys.modules.get("keras.src.utils.python_utils")
    if python_utils is None or "_on_train_batch_end" not in vars(callback_list):
        return
    contexts = {}

    def remember(args):
        args[0]._dlprof_loop = probe.current_loop()

    def context(args):
        loop = getattr(args[0], "_dlprof_loop", None)
        return None if loop is None else (loop, args[1])

    def computed(result, context):
        loop, step = context
        loop.valued = now()
        common.step_metrics(probe, loop, int(step), common.numbers(result))

    probe.around(callback_list, "on_train_begin", remember, lambda _token, _args: None, again=True)
    context = probe.guard(context)
    probe.replace(callback_list, "_on_train_batch_end", lambda f: probe.wrappers.in_context(f, context, contexts))
    hook = probe.guard(computed)
    probe.replace(python_utils, "pythonify_logs", lambda f: probe.wrappers.of_context(f, hook, contexts))


def _numbers(probe, callback_list, place):
    _metrics(probe, callback_list)
    probe.waiting(*place)


def _values(probe, callback_list):
    """Hook where values are read: by Keras for its callbacks, on this thread or on others, and by callbacks."""
    place = sys.modules.get("keras.src.utils.python_utils"), "pythonify_logs"
    if place[1] in vars(place[0] or sys):
        probe.passing_by(*place, hook=partial(_numbers, probe, callback_list, place))
    place = sys.modules.get("keras.src.backend"), "convert_to_numpy"
    if place[1] in vars(place[0] or sys):
        probe.passing_by(*place, hook=partial(probe.waiting, *place))
    if "_flush_futures" in vars(callback_list):
        flushed, lasting = probe.guard(probe.waits.flushed), probe.wrappers.lasting
        place = callback_list, "_flush_futures"
        probe.passing_by(*place, hook=partial(probe.replace, *place, make=lambda f: lasting(f, flushed, now, LEAST_NS)))


def _input(probe, models):
    """Hook the making of the epoch iterator: conversion of the data, and what it knows of batches."""
    modules = {"keras.src.trainers.epoch_iterator"}
    modules.update(base.__module__ for base in each_definer(models, "fit"))
    hook = probe.guard(lambda _result, args: _describe(probe, args[0]))
    for cls in {one for name in modules for one in _epoch_iterators(sys.modules.get(name, sys))}:
        probe.passing_by(cls, "__init__", partial(_prepared, probe, cls, hook))


def _prepared(probe, cls, hook):
    probe.span(cls, "__init__", wire.SpanKind.INPUT, "prepare data")
    probe.replace(cls, "__init__", lambda f: probe.wrappers.after(f, hook), again=True)


def _epoch_iterators(module):
    """The classes that a module knows by name, its own and those that it imports."""
    found = [one for one in list(vars(module).values()) if isinstance(one, type) and "__init__" in vars(one)]
    return [one for one in found if one.__name__.endswith("EpochIterator")]


def _generators(probe):
    """Look at what generators of the program's own give; nothing of ours runs while they do."""
    module = sys.modules.get("keras.src.trainers.data_adapters.generator_data_adapter")
    if module is not None and "peek_and_restore" in vars(module):
        given = probe.guard(lambda batch: probe.descriptions.batch_given(probe.current_loop(), batch))
        probe.replace(module, "peek_and_restore", lambda f: probe.wrappers.restoring(f, given), again=True)


def _describe(probe, iterator):
    loop, adapter = probe.current_loop(), getattr(iterator, "data_adapter", None)
    if loop is None or adapter is None or loop.described:
        return  # each class of iterators tells of the same adapter
    loop.described = True
    facts = {}
    for fact, attribute in (
        ("batch_size", "batch_size"),
        ("batches", "num_batches"),
        ("partial_batch_size", "partial_batch_size"),
    ):
        try:
            facts[fact] = int(getattr(adapter, attribute))
        except (AttributeError, NotImplementedError, TypeError, ValueError):
            continue  # this kind of data does not know it
    facts["adapter"] = type(adapter).__name__
    inputs = getattr(adapter, "_inputs", None)
    if isinstance(inputs, (list, tuple)):
        probe.descriptions.data(loop, [getattr(one, "array", one) for one in inputs if one is not None])
    if facts.get("batches"):
        probe.windows.planned(loop, facts["batches"])
    probe.recorder.known_detail(loop.span, tuple(facts.items()), lambda: facts)
