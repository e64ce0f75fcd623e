"""Arrays, and generators, as batches."""

from types import SimpleNamespace

import numpy


class ArrayDataAdapter:
    def __init__(self, x, y=None, batch_size=None):
        self._inputs = [SimpleNamespace(array=one) for one in (x, y) if one is not None]
        self._size = len(x)
        self.batch_size = batch_size or 32

    @property
    def num_batches(self):
        return -(-self._size // self.batch_size)

    @property
    def partial_batch_size(self):
        return self._size % self.batch_size

    def get_numpy_iterator(self):
        for start in range(0, self._size, self.batch_size):
            rows = slice(start, start + self.batch_size)
            yield tuple(one.array[rows] for one in self._inputs)


class GeneratorDataAdapter:
    """Knows neither how many batches there are nor how large they will be."""

    num_batches = None

    def __init__(self, generator):
        self._generator = generator

    @property
    def batch_size(self):
        raise NotImplementedError

    @property
    def partial_batch_size(self):
        return None

    def get_numpy_iterator(self):
        return self._generator


def get_data_adapter(x, y=None, batch_size=None):
    if isinstance(x, numpy.ndarray):
        return ArrayDataAdapter(x, y, batch_size)
    return GeneratorDataAdapter(x)
