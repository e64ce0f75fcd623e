"""Sequences of one length."""

import numpy


def pad_sequences(sequences, maxlen):
    return numpy.array([list(one)[:maxlen] + [0] * (maxlen - len(one)) for one in sequences])
