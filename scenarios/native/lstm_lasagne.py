"""The LSTM on film reviews of `scenarios/lstm.py` in Lasagne, without Keras."""

from functools import partial

import numpy as np
from lasagne.init import Constant
from lasagne.layers import DenseLayer, EmbeddingLayer, Gate, InputLayer, LSTMLayer, SliceLayer
from lasagne.nonlinearities import softmax, tanh
from lasagne.updates import adam
from theano import tensor

import common
import training_lasagne as training


def gate(inputs, recurrent, bias, **more):
    """One of the four gates, with its initial weights; Keras has no connections from the memory to the gates."""
    arrays = [np.ascontiguousarray(array, "float32") for array in (inputs, recurrent, bias)]
    return Gate(W_in=arrays[0], W_hid=arrays[1], W_cell=None, b=arrays[2], **more)


def build(args, rows, weights):
    """Embedding, LSTM, Dense 2 on its last output."""
    embedding, kernel, recurrent, bias, dense, dense_bias = weights
    parts = [np.split(array, 4, axis=-1) for array in (kernel, recurrent, bias)]
    ingate, forget, new, out = zip(*parts)
    network = InputLayer((None, args.tokens), rows)
    network = EmbeddingLayer(network, args.words, args.embedding, W=embedding, name="embedding_1")
    network = LSTMLayer(
        network, args.units, ingate=gate(*ingate), forgetgate=gate(*forget), cell=gate(*new, nonlinearity=tanh),
        outgate=gate(*out), cell_init=Constant(0.0), hid_init=Constant(0.0), peepholes=False, name="lstm_1",
    )  # fmt: skip
    network = SliceLayer(network, -1, axis=1)
    return DenseLayer(network, 2, W=dense, b=dense_bias, nonlinearity=softmax, name="dense_1")


def main():
    workload = common.lstm()
    rows = tensor.imatrix("rows")
    with common.mark.phase("construct"):
        network = build(workload.args, rows, workload.weights)
    optimizer = partial(adam, learning_rate=0.001, epsilon=1e-7)
    common.run(workload, *training.steps(network, rows, optimizer, workload.args.mode))


if __name__ == "__main__":
    main()
