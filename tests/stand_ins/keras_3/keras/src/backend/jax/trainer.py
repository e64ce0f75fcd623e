"""Training where the step function itself asks the iterator for the next batch, as on JAX."""

from keras.src.trainers.epoch_iterator import EpochIterator
from keras.src.trainers.fitting import FittingTrainer


class JAXEpochIterator(EpochIterator):
    def __next__(self):
        return next(self._epoch)

    def _get_iterator(self):
        return self.data_adapter.get_numpy_iterator()


class JAXTrainer(FittingTrainer):
    def _epoch_iterator(self, **data):
        return JAXEpochIterator(**data)

    def make_train_function(self, force=False):
        if self.train_function is None or force:
            self.train_function = self._iterating(self.train_step)

    def make_test_function(self, force=False):
        if self.test_function is None or force:
            self.test_function = self._iterating(self.test_step)

    def make_predict_function(self, force=False):
        if self.predict_function is None or force:
            self.predict_function = self._iterating(lambda batch: [self.predict_step(batch)])

    def _iterating(self, step):
        def function(iterator):
            iterator, result = iter(iterator), None
            for _ in range(self.steps_per_execution):
                result = step(next(iterator))
            return result

        return function
