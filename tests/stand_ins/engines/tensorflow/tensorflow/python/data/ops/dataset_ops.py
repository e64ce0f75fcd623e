from tensorflow.python.ops import script_ops

from . import iterator_ops


class DatasetV2:
    tuned = True

    def __init__(self, values):
        self.values = values

    @staticmethod
    def from_tensor_slices(values):
        return DatasetV2(values)

    @staticmethod
    def from_tensors(values):
        return DatasetV2([values])

    def with_options(self, options):
        made = DatasetV2(self.values)
        made.tuned = options.autotune.enabled
        return made

    def __iter__(self):
        last.append(self.tuned)
        return iterator_ops.OwnedIterator(self.values)


last = []
