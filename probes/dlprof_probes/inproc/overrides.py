"""Settings that a trial run takes instead of the script's own, to measure what they cost (`dlprof diagnose --confirm`).

Only such trial runs have any; the user's files stay as they are.

    run_eagerly, jit_compile, steps_per_execution    arguments of Model.compile
    batch_size                                        argument of Model.fit
    floatx, layout                                    settings of Keras
    threads                                           computing threads of torch and TensorFlow
    autotune                                          of the input pipelines of TensorFlow
    flags_off                                         switches for debugging, named as in `facts.py`
"""

import sys

from dlprof_probes.inproc.hooks import keras_common as common

_OF_COMPILE = ("run_eagerly", "jit_compile", "steps_per_execution")


class Overrides(object):
    """Applies each setting as soon as the module that it belongs to is there."""

    def __init__(self, probe, settings):
        self._probe = probe
        self._settings = settings
        self._done = set()
        self.apply = probe.guard(self._apply)

    def _apply(self):
        for name, module, apply in (
            ("keras", "keras", self._keras),
            ("torch", "torch", self._torch),
            ("tensorflow", "tensorflow", self._tensorflow),
            ("jax", "jax", self._jax),
        ):
            if name not in self._done and module in sys.modules and self._is_loaded(name):
                self._done.add(name)
                apply(sys.modules[module])

    @staticmethod
    def _is_loaded(name):
        module = sys.modules[name]
        needed = {"keras": "callbacks", "torch": "set_num_threads", "tensorflow": "debugging", "jax": "config"}[name]
        return hasattr(module, needed)

    def _off(self, flag):
        return flag in self._settings.get("flags_off", ())

    def _replace(self, owner, name, make):
        if owner is not None:
            self._probe.replace(owner, name, make, again=True)

    # -- Keras ---------------------------------------------------------------------------------------

    def _keras(self, keras):
        models = [keras.Model, keras.Sequential]
        told = dict((name, self._settings[name]) for name in _OF_COMPILE if name in self._settings)
        self._keywords(models, "compile", told)
        if "batch_size" in self._settings:
            self._keywords(models, "fit", {"batch_size": self._settings["batch_size"]})
        for setting, names in (
            ("floatx", ("set_floatx", "set_dtype_policy")),
            ("layout", ("set_image_data_format",)),
        ):
            if setting in self._settings:
                self._setting(keras, names, self._settings[setting])

    def _keywords(self, models, method, told):
        if told:
            nothing = lambda _result, _args: None  # noqa: E731
            for owner in common.each_definer(models, method):
                make = lambda f: self._probe.wrappers.with_keywords(f, lambda _given: told, nothing)  # noqa: E731
                self._replace(owner, method, make)

    def _setting(self, keras, names, value):
        """Set it now, and have the script's own calls set the same."""
        for place in ("backend", "config"):
            owner = getattr(keras, place, None)
            for name in names:
                function = vars(owner).get(name) if owner is not None else None
                if function is not None:
                    function(value)
                    self._replace(owner, name, lambda f: lambda *_args, **_more: f(value))

    # -- engines -------------------------------------------------------------------------------------

    def _torch(self, torch):
        count = self._settings.get("threads")
        if count:
            torch.set_num_threads(count)
            self._replace(torch, "set_num_threads", lambda f: lambda *_args, **_more: f(count))
        if self._off("torch.autograd.set_detect_anomaly"):
            for name in ("set_detect_anomaly", "detect_anomaly"):
                self._replace(torch.autograd, name, lambda _f: lambda *_args, **_more: _Nothing())
        if self._off("torch.use_deterministic_algorithms"):
            self._replace(torch, "use_deterministic_algorithms", lambda f: lambda *_args, **_more: f(False))

    def _tensorflow(self, tensorflow):
        count = self._settings.get("threads")
        if count:
            threading = tensorflow.config.threading
            self._replace(threading, "set_intra_op_parallelism_threads", lambda f: lambda *_args, **_more: f(count))
        if self._settings.get("autotune") is False:
            self._untuned(tensorflow)
        if self._off("tf.config.run_functions_eagerly"):
            self._replace(tensorflow.config, "run_functions_eagerly", lambda f: lambda *_args, **_more: f(False))
        if self._off("tf.debugging.enable_check_numerics"):
            self._replace(tensorflow.debugging, "enable_check_numerics", lambda _f: lambda *_args, **_more: None)
        if self._off("tf.config.experimental.enable_op_determinism"):
            owner = tensorflow.config.experimental
            self._replace(owner, "enable_op_determinism", lambda _f: lambda *_args, **_more: None)

    def _untuned(self, tensorflow):
        options = tensorflow.data.Options()
        options.autotune.enabled = False
        dataset = tensorflow.data.Dataset
        self._replace(dataset, "__iter__", lambda f: lambda self_: f(self_.with_options(options)))

    def _jax(self, jax):
        off = [flag for flag in self._settings.get("flags_off", ()) if flag.startswith("jax_")]
        for flag in off:
            jax.config.update(flag, False)
        if off:
            keep = lambda f: lambda self_, name, value: None if name in off else f(self_, name, value)  # noqa: E731
            self._replace(type(jax.config), "update", keep)


class _Nothing(object):
    """Does nothing, also as a context."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None
