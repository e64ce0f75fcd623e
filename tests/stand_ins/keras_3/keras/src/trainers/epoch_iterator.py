"""The steps of an epoch: index of the first and the last batch of an execution, and its batches."""

from itertools import islice

from keras.src.trainers.data_adapter import get_data_adapter


class EpochIterator:
    def __init__(self, x, y=None, batch_size=None, steps_per_epoch=None, steps_per_execution=1):
        self.data_adapter = get_data_adapter(x, y, batch_size)
        self.steps_per_epoch = steps_per_epoch
        self.steps_per_execution = steps_per_execution
        self._epoch = None
        self._kept = None

    @property
    def num_batches(self):
        return self.steps_per_epoch or self.data_adapter.num_batches

    def reset(self):
        self._kept = None

    def _get_iterator(self):
        return self.data_adapter.get_numpy_iterator()

    def _steps(self):
        if self._kept is None or self.steps_per_epoch is None:
            self._kept = iter(self._get_iterator())
        for first in range(0, self.num_batches, self.steps_per_execution):
            yield first, first + self.steps_per_execution - 1, self._kept

    def __iter__(self):
        self._epoch = self._steps()
        return self

    def __next__(self):
        first, last, batches = next(self._epoch)
        taken = list(islice(batches, self.steps_per_execution))
        if not taken:
            raise StopIteration
        return first, last, taken
