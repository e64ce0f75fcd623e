import numpy

waited = []


class NDArray:
    def __init__(self, values):
        self._values = values

    def __mul__(self, factor):
        return NDArray(self._values * factor)

    def __add__(self, summand):
        return NDArray(self._values + summand)

    def asnumpy(self):
        return self._values


class CachedOp:
    def __init__(self, symbol, flags):
        self.symbol = symbol
        self.flags = dict(flags)


def ones(shape):
    return NDArray(numpy.ones(shape, "float32"))


def waitall():
    waited.append(True)
