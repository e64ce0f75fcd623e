"""Callbacks: what is called around epochs and batches."""


class Callback(object):
    model = None

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self.model = model

    def on_train_begin(self, logs=None):
        """Nothing, unless a subclass does."""

    def on_epoch_begin(self, epoch, logs=None):
        """Nothing, unless a subclass does."""

    def on_batch_begin(self, batch, logs=None):
        """Nothing, unless a subclass does."""

    on_train_end = on_test_begin = on_test_end = on_predict_begin = on_predict_end = on_train_begin
    on_epoch_end = on_epoch_begin
    on_batch_end = on_test_batch_begin = on_test_batch_end = on_predict_batch_begin = on_predict_batch_end = (
        on_batch_begin
    )

    def on_train_batch_begin(self, batch, logs=None):
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        self.on_batch_end(batch, logs=logs)


class History(Callback):
    def on_train_begin(self, logs=None):
        self.epoch = []
        self.history = {}

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    def __init__(self, on_epoch_end=None):
        if on_epoch_end is not None:
            self.on_epoch_end = on_epoch_end
