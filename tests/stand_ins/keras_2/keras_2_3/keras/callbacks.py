"""Callbacks of Keras 2.3: batches of all loops go through one method."""

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

    def _call_batch_hook(self, mode, hook, batch, logs=None):
        for callback in self.callbacks:
            getattr(callback, "on_%s_batch_%s" % (mode, hook))(batch, logs or {})

    def _call_begin_hook(self, mode):
        getattr(self, "on_%s_begin" % mode)()

    def _call_end_hook(self, mode):
        getattr(self, "on_%s_end" % mode)()

    def on_batch_begin(self, batch, logs=None):
        self._call_batch_hook("train", "begin", batch, logs=logs)

    def on_batch_end(self, batch, logs=None):
        self._call_batch_hook("train", "end", batch, logs=logs)

    def on_epoch_begin(self, epoch, logs=None):
        for callback in self.callbacks:
            callback.on_epoch_begin(epoch, logs or {})

    def on_epoch_end(self, epoch, logs=None):
        for callback in self.callbacks:
            callback.on_epoch_end(epoch, logs or {})

    def on_train_begin(self, logs=None):
        for callback in self.callbacks:
            callback.on_train_begin(logs)

    def on_train_end(self, logs=None):
        for callback in self.callbacks:
            callback.on_train_end(logs)

    def on_test_begin(self, logs=None):
        for callback in self.callbacks:
            callback.on_test_begin(logs)

    def on_test_end(self, logs=None):
        for callback in self.callbacks:
            callback.on_test_end(logs)

    def on_predict_begin(self, logs=None):
        for callback in self.callbacks:
            callback.on_predict_begin(logs)

    def on_predict_end(self, logs=None):
        for callback in self.callbacks:
            callback.on_predict_end(logs)


def for_loop(model):
    """The list that evaluation and prediction call, which take no callbacks here."""
    made = CallbackList()
    made.set_model(model)
    return made


def call_train_batch(callbacks, hook, batch, logs):
    """As the loops of 2.3 do."""
    callbacks._call_batch_hook("train", hook, batch, logs)
