"""Helpers that load and shape data."""

import numpy


def to_categorical(values, num_classes):
    return numpy.eye(num_classes)[numpy.asarray(values)]


def pad_sequences(sequences, maxlen):
    return numpy.array([list(one)[:maxlen] + [0] * (maxlen - len(one)) for one in sequences])
