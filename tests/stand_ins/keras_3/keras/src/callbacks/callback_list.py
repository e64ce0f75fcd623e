"""All callbacks of a loop, called as one; those that do nothing at the end of a batch are called on another thread."""

from concurrent.futures import ThreadPoolExecutor

from keras.src import backend
from keras.src.callbacks.callback import Callback, History
from keras.src.utils import python_utils


def _is_default(callback, name):
    return getattr(type(callback), name) is getattr(Callback, name)


class CallbackList(Callback):
    def __init__(self, callbacks=None, add_history=False, model=None, **params):
        self.callbacks = list(callbacks or ())
        names = ("on_batch_end", "on_train_batch_end")
        self._async_train = backend.IS_THREAD_SAFE and all(_is_default(c, n) for c in self.callbacks for n in names)
        self._executor = None
        self._depth = 0
        self._futures = []
        self._history = None
        if add_history:
            self._history = History()
            self.callbacks.append(self._history)
        self.set_model(model)
        self.set_params(params)

    def set_params(self, params):
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model):
        super().set_model(model)
        if self._history is not None:
            model.history = self._history
        for callback in self.callbacks:
            callback.set_model(model)

    def _all(self, name, *args, logs=None):
        logs = python_utils.pythonify_logs(logs)
        for callback in self.callbacks:
            getattr(callback, name)(*args, logs)

    def _flush_futures(self):
        for future in self._futures:
            future.result()
        self._futures = []

    def _on_begin(self):
        self._depth += 1
        if self._depth == 1 and self._async_train:
            self._executor = ThreadPoolExecutor(1)

    def _on_end(self):
        self._depth -= 1
        if self._depth == 0 and self._executor is not None:
            self._executor.shutdown()
            self._executor = None

    def on_train_begin(self, logs=None):
        self._on_begin()
        self._all("on_train_begin", logs=logs)

    def on_train_end(self, logs=None):
        self._flush_futures()
        self._all("on_train_end", logs=logs)
        self._on_end()

    def on_test_begin(self, logs=None):
        self._on_begin()
        self._all("on_test_begin", logs=logs)

    def on_test_end(self, logs=None):
        self._all("on_test_end", logs=logs)
        self._on_end()

    def on_predict_begin(self, logs=None):
        self._on_begin()
        self._all("on_predict_begin", logs=logs)

    def on_predict_end(self, logs=None):
        self._all("on_predict_end", logs=logs)
        self._on_end()

    def on_epoch_begin(self, epoch, logs=None):
        self._all("on_epoch_begin", epoch, logs=logs)

    def on_epoch_end(self, epoch, logs=None):
        self._flush_futures()
        self._all("on_epoch_end", epoch, logs=logs)

    def on_train_batch_begin(self, batch, logs=None):
        self._all("on_train_batch_begin", batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        if self._async_train:
            self._futures.append(self._executor.submit(self._on_train_batch_end, batch, logs))
        else:
            self._on_train_batch_end(batch, logs)

    def _on_train_batch_end(self, batch, logs=None):
        logs = python_utils.pythonify_logs(logs)
        for callback in self.callbacks:
            callback.on_train_batch_end(batch, logs)

    def on_test_batch_begin(self, batch, logs=None):
        self._all("on_test_batch_begin", batch, logs=logs)

    def on_test_batch_end(self, batch, logs=None):
        self._all("on_test_batch_end", batch, logs=logs)

    def on_predict_batch_begin(self, batch, logs=None):
        self._all("on_predict_batch_begin", batch)

    def on_predict_batch_end(self, batch, logs=None):
        self._all("on_predict_batch_end", batch)
