"""Multi-backend Keras up to 2.3, among it keras-mxnet (2.2.4)."""

import sys

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.hooks import keras_common as common
from dlprof_probes.inproc.hooks import keras_workers
from dlprof_probes.inproc.patching import each_definer

_GENERATORS = (
    ("fit_generator", wire.SpanKind.FIT),
    ("evaluate_generator", wire.SpanKind.EVALUATE),
    ("predict_generator", wire.SpanKind.PREDICT),
)


def ready(modules):
    """Whether a Keras of this kind is loaded to its end."""
    keras = modules.get("keras")
    model = getattr(getattr(keras, "models", None), "Model", None)
    return hasattr(model, "_make_train_function") and hasattr(keras, "callbacks") and hasattr(keras, "Sequential")


def attach(probe, keras):
    """Hook every phase."""
    backend, layer = keras.backend.backend(), sys.modules["keras.engine.base_layer"].Layer
    probe.recorder.meta({"keras": "keras", "keras_version": str(keras.__version__), "keras_backend": backend})
    # keras-mxnet rebinds these names to subclasses of its own, so both names are asked.
    models = [keras.models.Model, keras.models.Sequential, keras.Model, keras.Sequential]
    common.model_methods(probe, models)
    for name, kind in _GENERATORS:
        for owner in each_definer(models, name):
            probe.loop(owner, name, kind)
    common.layers(probe, layer)
    engine = probe.engines.find(backend)
    compiles = engine is not None and engine.compiles_when_built
    kind = wire.SpanKind.GRAPH_COMPILE if compiles else wire.SpanKind.BUILD
    common.step_functions(probe, models, "_make_%s_function", kind)
    for owner in each_definer(models, "_standardize_user_data"):
        probe.span(owner, "_standardize_user_data", wire.SpanKind.INPUT, "prepare data")
        hook = probe.guard(lambda _result, args: _data(probe, args[1:3]))
        probe.replace(owner, "_standardize_user_data", lambda f, hook=hook: probe.wrappers.after(f, hook), again=True)
    callback_list = keras.callbacks.CallbackList
    common.epochs(probe, callback_list)
    _batches(probe, callback_list)
    _metrics(probe, callback_list)
    _validation(probe)
    common.data_and_files(probe, keras)
    keras_workers.attach(probe, sys.modules)
    common.use_engine(probe, backend, common.KerasClasses(keras, models, layer, is_classic=True))


def _data(probe, arrays):
    """What `fit` was given: inputs and targets."""
    loop = probe.current_loop()
    if loop is not None:
        flat = [one for given in arrays for one in (given if isinstance(given, (list, tuple)) else [given])]
        probe.descriptions.data(loop, [one for one in flat if one is not None])
        probe.descriptions.batch_given(loop, arrays)


def _batches(probe, callback_list):
    """Hook the batch boundaries: up to 2.2 two methods, in 2.3 one that all of them and all loops go through."""
    if "_call_batch_hook" not in vars(callback_list):
        common.batches(probe, callback_list, (("on_batch_begin", "on_batch_end"),))
        return
    current, lines = probe.loops.current, probe.lines
    probe.replace(callback_list, "_call_batch_hook", lambda f: probe.wrappers.batch_hook(f, current, now, lines))


def _metrics(probe, callback_list):
    """The logs of a batch are numbers already when callbacks get them."""

    def ended(_token, args):
        loop = probe.current_loop()
        if loop is not None and len(args) > 2:
            values = [pair for pair in common.numbers(args[2]) if pair[0] not in ("batch", "size")]
            common.step_metrics(probe, loop, int(args[1]), values)

    def called(token, args):
        if args[1:3] == ("train", "end"):  # _call_batch_hook(self, mode, hook, batch, logs)
            ended(token, args[2:])

    for name, leave in (("on_batch_end", ended), ("_call_batch_hook", called)):
        if name in vars(callback_list):
            probe.around(callback_list, name, lambda _args: None, leave, again=True)


def _validation(probe):
    """Validation inside fit goes past Model.evaluate, through a function of the training module."""
    module = sys.modules.get("keras.engine.training_arrays")
    if module is not None:
        probe.loop(module, "test_loop", wire.SpanKind.EVALUATE)
