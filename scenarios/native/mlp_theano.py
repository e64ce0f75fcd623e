"""The MNIST MLP of `scenarios/mlp.py` in Theano, without Keras."""

from theano import tensor

import common
import training_theano as training


def build(args, weights):
    """784-512-512-10 with dropout: a function from rows to probabilities."""
    dropout, rate = training.Dropout(args.seed), common.rate(args, 0.2)
    k1, b1, k2, b2, k3, b3 = weights

    def model(rows, is_training):
        hidden = tensor.nnet.relu(training.dense(rows, k1, b1))
        hidden = dropout(hidden, rate, training=is_training)
        hidden = tensor.nnet.relu(training.dense(hidden, k2, b2))
        hidden = dropout(hidden, rate, training=is_training)
        return tensor.nnet.softmax(training.dense(hidden, k3, b3))

    return model


def main():
    workload = common.mlp()
    with common.mark.phase("construct"):
        weights = training.shared(workload.weights)
        model = build(workload.args, weights)
    functions = training.steps(model, weights, training.rmsprop, tensor.fmatrix("rows"), workload.args.mode)
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
