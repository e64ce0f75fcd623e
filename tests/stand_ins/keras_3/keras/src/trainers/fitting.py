"""The loops over epochs and batches; backends say how batches come and what a step function is."""

import numpy

from keras.src.callbacks.callback_list import CallbackList
from keras.src.trainers.trainer import Trainer
from keras.src.utils import python_utils


class FittingTrainer(Trainer):
    def fit(
        self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None, validation_data=None,
        shuffle=True, initial_epoch=0, steps_per_epoch=None,
    ):  # fmt: skip
        iterator = self._epoch_iterator(
            x=x,
            y=y,
            batch_size=batch_size,
            steps_per_epoch=steps_per_epoch,
            steps_per_execution=self.steps_per_execution,
        )
        if not self._built:
            self._symbolic_build(data_batch=None)
        iterator.reset()
        callbacks = self._callback_list(callbacks, iterator, epochs, add_history=True)
        self.stop_training = False
        self.make_train_function()
        callbacks.on_train_begin()
        for epoch in range(initial_epoch, epochs):
            callbacks.on_epoch_begin(epoch)
            logs = self._epoch(iterator, callbacks)
            if validation_data is not None:
                val_x, val_y = validation_data
                values = self.evaluate(val_x, val_y, batch_size=batch_size, callbacks=callbacks, return_dict=True)
                logs.update(("val_" + name, value) for name, value in values.items())
            callbacks.on_epoch_end(epoch, logs)
            if self.stop_training:
                break
        callbacks.on_train_end(logs)
        return self.history

    def _epoch(self, iterator, callbacks):
        logs = {}
        for first, last, data in iterator:
            callbacks.on_train_batch_begin(first)
            logs = self.train_function(data)
            callbacks.on_train_batch_end(last, logs)
            if self.stop_training:
                break
        return dict(logs)

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", callbacks=None, return_dict=False):
        iterator = self._epoch_iterator(x=x, y=y, batch_size=batch_size, steps_per_execution=self.steps_per_execution)
        callbacks = self._callback_list(callbacks, iterator, 1)
        self.make_test_function()
        callbacks.on_test_begin()
        losses = []
        for first, last, data in iterator:
            callbacks.on_test_batch_begin(first)
            logs = self.test_function(data)
            losses.append(logs["loss"])
            callbacks.on_test_batch_end(last, logs)
        logs = python_utils.pythonify_logs({"loss": numpy.mean(losses)})
        callbacks.on_test_end(logs)
        return logs if return_dict else logs["loss"]

    def predict(self, x, batch_size=None, verbose="auto", callbacks=None):
        iterator = self._epoch_iterator(x=x, batch_size=batch_size, steps_per_execution=self.steps_per_execution)
        callbacks = self._callback_list(callbacks, iterator, 1)
        self.make_predict_function()
        callbacks.on_predict_begin()
        outputs = []
        for first, last, data in iterator:
            callbacks.on_predict_batch_begin(first)
            predicted = self.predict_function(data)
            outputs.extend(predicted)
            callbacks.on_predict_batch_end(last, {"outputs": predicted})
        callbacks.on_predict_end()
        return numpy.concatenate(outputs)

    def _callback_list(self, callbacks, iterator, epochs, add_history=False):
        if isinstance(callbacks, CallbackList):
            return callbacks
        return CallbackList(callbacks, add_history=add_history, model=self, epochs=epochs, steps=iterator.num_batches)

    def train_on_batch(self, x, y=None):
        if not self._built:
            self._symbolic_build(data_batch=(x, y))
        self.make_train_function()
        return python_utils.pythonify_logs(self.train_function([(x, y)]))["loss"]

    def test_on_batch(self, x, y=None):
        self.make_test_function()
        return python_utils.pythonify_logs(self.test_function([(x, y)]))["loss"]

    def predict_on_batch(self, x):
        self.make_predict_function()
        return self.predict_function([(x,)])[0]
