"""The LSTM on film reviews of `scenarios/lstm.py` in Theano, without Keras."""

import theano
from theano import tensor

import common
import training_theano as training


def lstm(rows, kernel, recurrent, bias, units):
    """The last output of an LSTM over rows of shape (batch, time, inputs)."""
    inputs = tensor.dot(rows.dimshuffle(1, 0, 2), kernel) + bias
    zeros = tensor.zeros((rows.shape[0], units), "float32")

    def cell(inputs_now, hidden, memory, recurrent_now):
        gates = inputs_now + tensor.dot(hidden, recurrent_now)
        ingate, forget, new, out = (gates[:, i * units : (i + 1) * units] for i in range(4))
        memory = tensor.nnet.sigmoid(forget) * memory + tensor.nnet.sigmoid(ingate) * tensor.tanh(new)
        return tensor.nnet.sigmoid(out) * tensor.tanh(memory), memory

    outputs, _ = theano.scan(cell, [inputs], [zeros, zeros], [recurrent], strict=True)
    return outputs[0][-1]


def build(args, weights):
    """Embedding, LSTM, Dense 2 on its last output."""
    embedding, kernel, recurrent, bias, dense, dense_bias = weights

    def model(rows, _is_training):
        last = lstm(embedding[rows], kernel, recurrent, bias, args.units)
        return tensor.nnet.softmax(training.dense(last, dense, dense_bias))

    return model


def main():
    workload = common.lstm()
    with common.mark.phase("construct"):
        weights = training.shared(workload.weights)
        model = build(workload.args, weights)
    functions = training.steps(model, weights, training.adam, tensor.imatrix("rows"), workload.args.mode)
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
