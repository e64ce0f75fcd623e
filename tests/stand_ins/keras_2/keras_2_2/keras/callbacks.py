"""Callbacks of Keras 2.2: batches of training only, by two methods."""

from keras.callback import Callback, History, LambdaCallback

__all__ = ["Callback", "CallbackList", "History", "LambdaCallback", "call_train_batch", "for_loop"]


class CallbackList(object):
    def __init__(self, callbacks=None):
        self.callbacks = list(callbacks or ())

    def set_params(self, params):
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model):
        for callback in self.callbacks:
            callback.set_model(model)

    def on_train_begin(self, logs=None):
        for callback in self.callbacks:
            callback.on_train_begin(logs or {})

    def on_train_end(self, logs=None):
        for callback in self.callbacks:
            callback.on_train_end(logs or {})

    def on_epoch_begin(self, epoch, logs=None):
        for callback in self.callbacks:
            callback.on_epoch_begin(epoch, logs or {})

    def on_epoch_end(self, epoch, logs=None):
        for callback in self.callbacks:
            callback.on_epoch_end(epoch, logs or {})

    def on_batch_begin(self, batch, logs=None):
        for callback in self.callbacks:
            callback.on_batch_begin(batch, logs or {})

    def on_batch_end(self, batch, logs=None):
        for callback in self.callbacks:
            callback.on_batch_end(batch, logs or {})


class _Nothing(object):
    """Evaluation and prediction have no callbacks here."""

    def _call_begin_hook(self, mode):
        """Nothing."""

    _call_end_hook = _call_begin_hook

    def _call_batch_hook(self, mode, hook, batch, logs):
        """Nothing."""


def for_loop(_model):
    return _Nothing()


def call_train_batch(callbacks, hook, batch, logs):
    """As the loops of 2.2 do."""
    getattr(callbacks, "on_batch_" + hook)(batch, logs)
