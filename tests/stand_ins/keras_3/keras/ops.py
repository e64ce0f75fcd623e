"""Operations."""

import numpy


def convert_to_numpy(value):
    return numpy.asarray(getattr(value, "value", value))
