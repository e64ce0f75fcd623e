"""Settings that a trial run takes instead of the script's own, to measure what they cost (`dlprof diagnose --confirm`).

Only such trial runs have any; the user's files stay as they are.

    run_eagerly, jit_compile, steps_per_execution    arguments of Model.compile
    batch_size                                        argument of Model.fit
    floatx, layout, policy                            settings of Keras; policy: types of computing and of variables
    threads                                           computing threads of the engine
    autotune                                          of the engine's input pipelines
    flags_off                                         switches for debugging, named as in `Engine.switches`
    loader                                            of the loaders that one line makes (`file`, `line`; without a line
                                                      of all): num_workers, persistent_workers, prefetch_factor of a
                                                      DataLoader; num_workers, prefetch of Gluon's; workers,
                                                      use_multiprocessing, max_queue_size of Keras

threads, autotune and flags_off are the engine's own business (`Engine.apply`); those of loaders are taken where these
are hooked (`engines/torch_loaders.py`, `engines/mxnet_loaders.py`, `hooks/keras_workers.py`).
"""

import inspect
import sys
from sys import _getframe

from dlprof_probes.inproc.patching import each_definer

_OF_COMPILE = ("run_eagerly", "jit_compile", "steps_per_execution")


def is_meant(probe, told, loader, frame):
    """Whether a loader that is made below `frame` is one of the line that `told` names.

    Args:
        probe: `Probe`.
        told: Setting `loader` of a trial run.
        loader: What is made; its own constructors are not where that happens.
        frame: Frame of the program.
    """
    wanted = told.get("file")
    if not wanted:
        return True
    file, line = probe.loaders.place(loader, frame)
    return line == told.get("line") and (file == wanted or file.endswith("/" + wanted))


def of_loader(probe, loader_class, names):
    """Make each loader of a line with the settings of a trial run, however the script gives its own.

    Args:
        probe: `Probe`.
        loader_class: Its `__init__` takes the settings.
        names: Of those that it takes.
    """
    told = probe.trial.get("loader") or {}
    settings = dict((name, told[name]) for name in names if name in told)
    if not settings:
        return
    signature = inspect.signature(loader_class.__init__)

    def change(args, kwargs):
        if not is_meant(probe, told, args[0], _getframe(3)):
            return None
        bound = signature.bind(*args, **kwargs)
        bound.arguments.update(settings)
        return bound.args, bound.kwargs

    guarded = probe.guard(change, goes_on=True)
    probe.replace(loader_class, "__init__", lambda f: probe.wrappers.with_arguments(f, guarded), again=True)


class Overrides(object):
    """Applies each setting as soon as the module that it belongs to is there."""

    def __init__(self, probe, settings):
        self._probe = probe
        self._settings = settings
        self._done = set()
        self.apply = probe.guard(self._apply)

    def _apply(self):
        keras = sys.modules.get("keras")
        if hasattr(keras, "callbacks") and keras not in self._done:
            self._done.add(keras)
            self._keras(keras)
        for engine, module in self._probe.engines.loaded():
            if engine not in self._done and self._probe.guard(engine.is_settable)(module):
                self._done.add(engine)
                self._probe.guard(engine.apply)(module, self._settings)

    def _replace(self, owner, name, make):
        if owner is not None:
            self._probe.replace(owner, name, make, again=True)

    def _keras(self, keras):
        models = [keras.Model, keras.Sequential]
        told = dict((name, self._settings[name]) for name in _OF_COMPILE if name in self._settings)
        self._keywords(models, "compile", told)
        if "batch_size" in self._settings:
            self._keywords(models, "fit", {"batch_size": self._settings["batch_size"]})
        for setting, names in (
            ("floatx", ("set_floatx", "set_dtype_policy")),
            ("policy", ("set_dtype_policy", "set_global_policy")),
            ("layout", ("set_image_data_format",)),
        ):
            if setting in self._settings:
                self._setting(keras, names, self._settings[setting])

    def _keywords(self, models, method, told):
        if told:
            nothing = lambda _result, _args: None  # noqa: E731
            for owner in each_definer(models, method):
                make = lambda f: self._probe.wrappers.with_keywords(f, lambda _given: told, nothing)  # noqa: E731
                self._replace(owner, method, make)

    def _setting(self, keras, names, value):
        """Set it now, and have the script's own calls set the same."""
        for place in ("backend", "config", "mixed_precision"):
            owner = getattr(keras, place, None)
            for name in names:
                function = vars(owner).get(name) if owner is not None else None
                if function is not None:
                    function(value)
                    self._replace(owner, name, lambda f: lambda *_args, **_more: f(value))
