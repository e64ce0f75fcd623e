"""What Keras 2 and Keras 3 have in common: model methods, layers, files, data sets, callbacks."""

import functools
import os
import sys
import weakref
from sys import _getframe

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.patching import each_definer

LOOPS = (("fit", wire.SpanKind.FIT), ("evaluate", wire.SpanKind.EVALUATE), ("predict", wire.SpanKind.PREDICT))
ON_BATCH = ("train_on_batch", "test_on_batch", "predict_on_batch")
_TOLD = ("epochs", "steps", "batch_size", "samples")
"""Of what Keras says of a loop."""
STEP_FUNCTIONS = ("train_function", "test_function", "predict_function")
SAVING = ("save", "save_weights", "load_weights", "export")
LOADERS = (
    "image_dataset_from_directory",
    "text_dataset_from_directory",
    "timeseries_dataset_from_array",
    "audio_dataset_from_directory",
    "to_categorical",
    "get_file",
    "pad_sequences",
)


class KerasClasses(object):
    """What engines hook of a Keras, to name layers in their traces.

    Attributes:
        module: `keras`, or `tf_keras`.
        models: The classes of models.
        layer: The class of layers.
        is_classic: It is one with several backends of its own time, up to 2.3.
    """

    def __init__(self, module, models, layer, is_classic):
        self.module = module
        self.models = models
        self.layer = layer
        self.is_classic = is_classic


def use_engine(probe, backend, keras):
    """Have the engine that Keras calls `backend` traced, and tell that it is the one that counts.

    Args:
        probe: `Probe`.
        backend: Name of Keras' backend.
        keras: `KerasClasses`.
    """
    engine = probe.engines.find(backend)
    if engine is None:
        probe.windows.use(backend)
        return
    module = sys.modules.get(engine.module)
    if module is not None and engine.is_ready(sys.modules):
        engine.note_version(module)  # others may be loaded besides
    probe.guard(engine.under_keras)(keras)


def own_updates(probe, backend, optimizer_class, name):
    """Tell the engine of updates by Keras' optimisers: a loop of the script's own may train with one.

    Args:
        probe: `Probe`.
        backend: Name of Keras' backend.
        optimizer_class: The base of all optimisers.
        name: Its method that changes the weights.
    """
    engine = probe.engines.find(backend)
    if engine is None or optimizer_class is None:
        return
    module = sys.modules.get(optimizer_class.__module__.split(".")[0])
    probe.own_loops.sites.skip(os.path.dirname(module.__file__) + os.sep)
    hook = probe.guard(lambda _result, args: engine.updated(args[0]), goes_on=True)
    for owner in each_definer([optimizer_class], name):
        probe.replace(owner, name, lambda f: probe.wrappers.after(f, hook), again=True)


def model_methods(probe, classes):
    """Hook the methods of models that every Keras has."""
    probe.describe_model = probe.guard(model_facts)
    for name, kind in LOOPS:
        _each(classes, name, lambda owner, name=name, kind=kind: probe.loop(owner, name, kind))
    for name in ON_BATCH:
        _each(classes, name, lambda owner, name=name: probe.on_batch(owner, name))
    _each(classes, "compile", lambda owner: probe.span(owner, "compile", wire.SpanKind.COMPILE))
    for name in SAVING:
        _each(classes, name, lambda owner, name=name: probe.span(owner, name, wire.SpanKind.SAVE))
    # Not `build`: Keras 3 wraps it per object and reads its signature through every wrapper, to the
    # plain function below, where it would find `self`.
    for name in ("__init__", "add"):
        _each(classes, name, lambda owner, name=name: _construct(probe, owner, name))


def _each(classes, name, hook):
    for owner in each_definer(classes, name):
        hook(owner)


def _construct(probe, owner, name):
    if owner.__module__.split(".")[0] in ("keras", "tf_keras"):
        told = _layer_name if name == "__init__" else None
        probe.span(owner, name, wire.SpanKind.CONSTRUCT, _method_label(name), outermost=True, detail=told)


def layers(probe, layer):
    """Hook making layers and calling them on symbolic tensors."""
    label = _method_label("__init__")
    probe.span(layer, "__init__", wire.SpanKind.CONSTRUCT, label, outermost=True, detail=_layer_name)

    def enter(args):
        if probe.recorder.stack() or len(args) < 2 or not is_symbolic(args[1]):
            return None
        was_on = probe.lines.pause()
        label = type(args[0]).__name__ + ".__call__"
        return probe.recorder.begin(wire.SpanKind.CONSTRUCT, label, _getframe(3)), was_on

    def leave(token, _args):
        if token is not None:
            probe.recorder.end(token[0])
            probe.lines.restore(token[1])

    probe.around(layer, "__call__", enter, leave)


def _layer_name(args):
    """Which layer was made: its kernels are known by this name."""
    known = vars(args[0])  # no property of the user's is to run here
    name = known.get("_name") or known.get("name")
    return {"layer": name} if isinstance(name, str) else None


def is_symbolic(value):
    """Whether `value` (or the first of a list) is a tensor without data: a model is being put together."""
    if isinstance(value, (list, tuple)) and value:
        value = value[0]
    return hasattr(value, "_keras_history") or type(value).__name__ in ("KerasTensor", "KerasSymbol")


def step_functions(probe, classes, maker_pattern, kind=wire.SpanKind.BUILD):
    """Hook the makers of step functions, and stand in for what they make.

    Args:
        probe: `Probe`.
        classes: Model classes.
        maker_pattern: `make_%s_function` or `_make_%s_function`.
        kind: What the making is: building, or compilation where that happens in it.
    """
    for loop in ("train", "test", "predict"):
        maker = maker_pattern % loop
        for owner in each_definer(classes, maker):
            hook = functools.partial(_step_function, probe, owner, maker, loop + "_function", kind)
            probe.passing_by(owner, maker, hook)


def _step_function(probe, owner, maker, attribute, kind):
    def enter(args):
        if getattr(args[0], attribute, None) is not None:
            return None, True
        return probe.recorder.begin(kind, maker, None), False

    def leave(token, args):
        span, is_again = token or (None, False)
        if span is not None:
            probe.recorder.end(span)
        _stand_in(probe, args[0], attribute, is_again)

    probe.around(owner, maker, enter, leave)


def stand_in(probe, model):
    """Stand in for the step functions that a model has had since before the probe came."""
    for attribute in STEP_FUNCTIONS:
        _stand_in(probe, model, attribute, is_again=True)


def _stand_in(probe, model, attribute, is_again):
    function = getattr(model, attribute, None)
    if function is not None and not getattr(function, "_dlprof", False):
        # keras-mxnet makes it anew in each call of train_on_batch: that compiles nothing.
        step = probe.wrappers.StepFunction(function, probe.loops.current, now, is_again)
        setattr(model, attribute, step)
        _taken_back(probe, model, attribute)


def _taken_back(probe, model, attribute):
    """Give a model its own step function back when the probe ends before the process does.

    Nothing here may hold the model, or what closes over it: a script that makes many of them wants them freed.
    """
    if not probe.goes_on:
        return
    held = weakref.ref(model)

    def undo():
        step = getattr(held(), attribute, None)
        if isinstance(step, probe.wrappers.StepFunction):
            setattr(held(), attribute, step.__wrapped__)

    probe.patches.on_undo(undo)


def epochs(probe, callback_list):
    """Hook the callbacks' epoch and train boundaries: epochs, their metrics, time in callbacks."""
    hooks = _EpochHooks(probe)
    described = probe.guard(hooks.described)
    place = callback_list, "set_params"
    make = lambda f: probe.wrappers.after(f, described)  # noqa: E731
    probe.passing_by(*place, hook=functools.partial(probe.replace, *place, make=make))
    probe.around(callback_list, "on_epoch_begin", hooks.beginning, hooks.begun)
    probe.around(callback_list, "on_epoch_end", hooks.ending, hooks.ended)
    for loop in ("train", "test", "predict"):
        for name in ("on_%s_begin" % loop, "on_%s_end" % loop):
            if name in vars(callback_list):
                _callbacks_span(probe, callback_list, name)


class _EpochHooks(object):
    """What happens around the epoch methods of a CallbackList; `args` begin with the list."""

    def __init__(self, probe):
        self._probe = probe

    def described(self, _result, args):
        loop = self._probe.current_loop()
        if loop is not None and len(args) > 1:
            describe_loop(self._probe, loop, args[1])

    def beginning(self, args):
        loop = self._probe.current_loop()
        if loop is None:
            return None
        self._probe.recorder.begin(wire.SpanKind.EPOCH, str(args[1]))
        return _enter_callbacks(self._probe, "on_epoch_begin", loop)

    def begun(self, token, args):
        if token is not None:
            _leave_callbacks(self._probe, token)
            self._probe.current_loop().start_epoch(int(args[1]))

    def ending(self, _args):
        loop = self._probe.current_loop()
        return None if loop is None else _enter_callbacks(self._probe, "on_epoch_end", loop)

    def ended(self, token, args):
        if token is None:
            return
        probe = self._probe
        _leave_callbacks(probe, token)
        values = last_of_history(args[0]) or numbers(args[2] if len(args) > 2 else None)
        probe.recorder.metrics(probe.current_loop().span, int(args[1]), wire.NONE, values)
        open_epochs = [number for number, kind in probe.recorder.stack() if kind == wire.SpanKind.EPOCH]
        if open_epochs:
            probe.recorder.end(open_epochs[-1])
        probe.recorder.flush()


def _callbacks_span(probe, callback_list, name):
    def enter(args):
        loop = probe.current_loop()
        if loop is None:
            return None
        if name.endswith("_begin"):
            loop.user_callbacks = any(is_users(probe, c) for c in getattr(args[0], "callbacks", ()))
        return _enter_callbacks(probe, name, loop)

    def leave(token, _args):
        if token is not None:
            _leave_callbacks(probe, token)

    enter, leave = probe.guard_enter(enter), probe.guard(leave)
    replace = probe.lifting if _is_of_short_calls(name) else probe.replace
    replace(callback_list, name, lambda f: probe.wrappers.spanned_callbacks(f, enter, leave))


def _is_of_short_calls(name):
    """Whether a method of callbacks is called in `predict` and `evaluate` alone, whose calls may be told in short."""
    return name.startswith(("on_test_", "on_predict_"))


def _enter_callbacks(probe, name, loop):
    resumed = loop.user_callbacks and probe.lines.resume()
    return probe.recorder.begin(wire.SpanKind.CALLBACKS, name), resumed


def _leave_callbacks(probe, token):
    probe.recorder.end(token[0])
    if token[1]:
        probe.lines.pause()


def is_users(probe, callback):
    """Whether code of the user's own runs in `callback`: its class, or a function given to a LambdaCallback."""
    module = sys.modules.get(type(callback).__module__)
    if probe.is_user_file(getattr(module, "__file__", None) or ""):
        return True
    values = list(vars(callback).values()) + list(vars(type(callback)).values())  # a class of a notebook has no file
    codes = (getattr(value, "__code__", None) for value in values)
    return any(code is not None and probe.is_user_file(code.co_filename) for code in codes)


def describe_loop(probe, loop, params):
    """Note what Keras says of a loop: epochs, steps, batch size, samples."""
    facts = dict((name, value) for name, value in (params or {}).items() if name in _TOLD and isinstance(value, int))
    if facts:
        probe.recorder.known_detail(loop.span, tuple(facts.items()), lambda: facts)
    epochs = facts.get("epochs", 1)
    if epochs and facts.get("steps"):
        probe.windows.planned(loop, epochs * facts["steps"])
    elif facts.get("samples") and facts.get("batch_size"):
        probe.windows.planned(loop, epochs * -(-facts["samples"] // facts["batch_size"]))


def model_facts(model):
    """What attribution needs of a model: its layers, nested ones too, the models in it, its optimiser."""
    layers, models, waiting, seen = [], [], [model], set()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        inner = list(getattr(current, "layers", None) or ())
        wrapped = [getattr(current, name, None) for name in ("layer", "forward_layer", "backward_layer")]
        if inner:
            models.append(str(getattr(current, "name", "")))
        if current is not model:
            layers.append({"name": str(getattr(current, "name", "")), "class": type(current).__name__})
        waiting.extend(reversed(inner))
        waiting.extend(layer for layer in wrapped if hasattr(layer, "call"))
    facts = {"layers": layers, "models": models}
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None:
        name = getattr(optimizer, "name", None)
        facts["optimizer"] = {"name": str(name) if name else None, "class": type(optimizer).__name__}
    facts["keras_steps"] = steps_are_keras_own(model)
    return facts


def steps_are_keras_own(model):
    """Whether a step has no method of the user's and no penalty on weights: layers, loss, optimiser, metrics only."""
    for name in ("train_step", "test_step", "compute_loss", "compute_metrics"):
        owner = next((kind for kind in type(model).__mro__ if name in vars(kind)), None)
        if owner is None or owner.__module__.split(".")[0] not in ("keras", "tf_keras"):
            return False  # or it is Keras 2.3, whose steps are no methods
    weights = getattr(model, "trainable_weights", None) or ()
    return not any(getattr(weight, "regularizer", None) for weight in weights)


def batches(probe, callback_list, names):
    """Hook the batch boundaries. `names`: (begin, end) pairs of method names."""
    current, lines = probe.loops.current, probe.lines
    for begin, end in names:
        replace = probe.lifting if _is_of_short_calls(begin) else probe.replace
        replace(callback_list, begin, lambda f: probe.wrappers.batch_begin(f, current, now, lines))
        replace(callback_list, end, lambda f: probe.wrappers.batch_end(f, current, now, lines))


def numbers(logs):
    """The items of `logs` that are plain numbers already: nothing is computed or waited for."""
    found = []
    for name, value in (logs or {}).items():
        if isinstance(value, (float, int)) or (type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0):
            found.append((str(name), float(value)))
    return found


def last_of_history(callback_list):
    """The newest values of Keras' History callback, which are numbers in every Keras."""
    for callback in getattr(callback_list, "callbacks", ()):
        if type(callback).__name__ == "History":
            return numbers(dict((name, values[-1]) for name, values in callback.history.items() if values))
    return []


def data_and_files(probe, keras):
    """Hook loading of data sets and of models by functions of Keras, under each name they have."""
    for path, names, kind in (
        (("utils",), LOADERS, wire.SpanKind.DATA),
        (("preprocessing", "sequence"), LOADERS, wire.SpanKind.DATA),
        (("models",), ("load_model", "save_model", "clone_model"), wire.SpanKind.SAVE),
        (("saving",), ("load_model", "save_model"), wire.SpanKind.SAVE),
    ):
        module = functools.reduce(lambda owner, name: getattr(owner, name, None), path, keras)
        for name in names:
            if module is not None and name in vars(module):
                probe.span(module, name, kind, outermost=True)
    for name, module in list(sys.modules.items()):
        if module is not None and ".datasets." in name and name.split(".")[0] in ("keras", "tf_keras"):
            if callable(vars(module).get("load_data")):
                probe.span(module, "load_data", wire.SpanKind.DATA, name.split(".")[-1] + ".load_data", outermost=True)


def step_metrics(probe, loop, step, values):
    """Record the values that Keras computed for a batch."""
    if loop is not None:
        probe.recorder.metrics(loop.span, loop.epoch, step, values)


def _method_label(method):
    return lambda args: "%s.%s" % (type(args[0]).__name__, method)
