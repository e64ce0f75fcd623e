"""Helpers that shape data."""

import numpy


def to_categorical(values, num_classes):
    return numpy.eye(num_classes)[numpy.asarray(values)]
