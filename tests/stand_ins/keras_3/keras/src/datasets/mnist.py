"""Digits; here some rows of nothing."""

import numpy


def load_data():
    rows, labels = numpy.zeros((4, 3), dtype="float32"), numpy.zeros(4, dtype="int64")
    return (rows, labels), (rows, labels)
