"""Models: what is trained and saved; the loops are in `training_arrays`."""

import numpy
from keras import backend as K
from keras import optimizers
from keras.engine import training_arrays
from keras.engine.base_layer import Layer


class Model(Layer):
    def __init__(self, inputs=None, outputs=None, name=None):
        super(Model, self).__init__(name)
        self._layers = list(outputs._keras_history) if outputs is not None else []
        self.optimizer = None

    @property
    def layers(self):
        return self._layers

    @property
    def trainable_weights(self):
        return [weight for layer in self.layers for weight in layer.trainable_weights]

    @trainable_weights.setter
    def trainable_weights(self, value):
        """A layer without weights of its own sets an empty list."""

    def call(self, inputs):
        for layer in self.layers:
            inputs = layer.call(inputs)
        return inputs

    def compile(self, optimizer, loss=None):
        self.optimizer = optimizers.get(optimizer)
        self.loss = loss
        self._loss = loss if callable(loss) else lambda y_true, y_pred: ((y_true - y_pred) ** 2).mean()
        self.train_function = self.test_function = self.predict_function = None

    def _make_train_function(self):
        if not hasattr(self, "train_function"):
            raise RuntimeError("You must compile your model before using it.")
        if self.train_function is None:
            self.train_function = K.function(self._train)

    def _make_test_function(self):
        if self.test_function is None:
            self.test_function = K.function(lambda x, y: [self._loss(y, self.call(x))])

    def _make_predict_function(self):
        if getattr(self, "predict_function", None) is None:
            self.predict_function = K.function(lambda x: [self.call(x)])

    def _train(self, x, y):
        predicted = self.call(x)
        loss = self._loss(y, predicted)
        gradient = 2.0 * (predicted - y) / predicted.size
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient)
        for weight in self.trainable_weights:
            weight.value = weight.value - self.optimizer.learning_rate * weight.gradient
        return [loss]

    def _standardize_user_data(self, x, y=None):
        return [x], [y] if y is not None else []

    def fit(
        self, x=None, y=None, batch_size=None, epochs=1, verbose=1, callbacks=None, validation_data=None, shuffle=True,
        initial_epoch=0,
    ):  # fmt: skip
        x, y = self._standardize_user_data(x, y)
        val_x, val_y = self._standardize_user_data(*validation_data) if validation_data else ([], [])
        self._make_train_function()
        if validation_data:
            self._make_test_function()
        return training_arrays.fit_loop(
            self,
            self.train_function,
            x + y,
            batch_size=batch_size or 32,
            epochs=epochs,
            callbacks=callbacks,
            val_inputs=val_x + val_y,
            initial_epoch=initial_epoch,
        )

    def fit_generator(self, generator, steps_per_epoch, epochs=1, verbose=1, callbacks=None):
        callbacks = training_arrays.callback_list(self, callbacks, {"epochs": epochs, "steps": steps_per_epoch})
        callbacks.on_train_begin()
        for epoch in range(epochs):
            callbacks.on_epoch_begin(epoch)
            for step in range(steps_per_epoch):
                x, y = next(generator)
                logs = {"batch": step, "size": len(x)}
                training_arrays.cbks.call_train_batch(callbacks, "begin", step, logs)
                logs["loss"] = self.train_on_batch(x, y)
                training_arrays.cbks.call_train_batch(callbacks, "end", step, logs)
            callbacks.on_epoch_end(epoch, {})
        callbacks.on_train_end()
        return self.history

    def evaluate(self, x=None, y=None, batch_size=None, verbose=1):
        x, y = self._standardize_user_data(x, y)
        self._make_test_function()
        return training_arrays.test_loop(self, self.test_function, x + y, batch_size=batch_size or 32)

    def predict(self, x, batch_size=None, verbose=0):
        x, _ = self._standardize_user_data(x)
        self._make_predict_function()
        return training_arrays.predict_loop(self, self.predict_function, x, batch_size=batch_size or 32)

    def train_on_batch(self, x, y):
        x, y = self._standardize_user_data(x, y)
        self._make_train_function()
        return self.train_function(x + y)[0]

    def test_on_batch(self, x, y):
        x, y = self._standardize_user_data(x, y)
        self._make_test_function()
        return self.test_function(x + y)[0]

    def predict_on_batch(self, x):
        x, _ = self._standardize_user_data(x)
        self._make_predict_function()
        return self.predict_function(x)[0]

    def get_weights(self):
        return [weight.value.copy() for weight in self.trainable_weights]

    def set_weights(self, values):
        for weight, value in zip(self.trainable_weights, values):
            weight.value = numpy.asarray(value, dtype="float32")

    def save_weights(self, path):
        with open(path, "wb") as target:
            numpy.savez(target, *self.get_weights())

    def load_weights(self, path):
        with numpy.load(path) as stored:
            self.set_weights([stored[name] for name in stored.files])

    def save(self, path):
        self.save_weights(path)
