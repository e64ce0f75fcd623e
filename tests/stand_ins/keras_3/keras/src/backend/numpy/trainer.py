"""Training where the loop asks for the batches and gives them to the step function, as on PyTorch."""

from keras.src.trainers.epoch_iterator import EpochIterator
from keras.src.trainers.fitting import FittingTrainer


class NumpyTrainer(FittingTrainer):
    def _epoch_iterator(self, **data):
        return EpochIterator(**data)

    def make_train_function(self, force=False):
        if self.train_function is not None and not force:
            return

        def train(batches):
            for batch in batches:
                logs = self.train_step(batch)
            return logs

        self.train_function = train

    def make_test_function(self, force=False):
        if self.test_function is not None and not force:
            return

        def test(batches):
            for batch in batches:
                logs = self.test_step(batch)
            return logs

        self.test_function = test

    def make_predict_function(self, force=False):
        if self.predict_function is not None and not force:
            return

        def predict(batches):
            return [self.predict_step(batch) for batch in batches]

        self.predict_function = predict
