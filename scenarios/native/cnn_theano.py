"""The MNIST CNN of `scenarios/cnn.py` in Theano, without Keras."""

from theano import tensor

import common
import training_theano as training


def build(args, weights):
    """Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10, with dropout."""
    dropout = training.Dropout(args.seed)
    k1, b1, k2, b2, d1, b3, d2, b4 = weights

    def model(rows, is_training):
        maps = tensor.nnet.relu(training.convolution(rows, k1, b1))
        maps = tensor.nnet.relu(training.convolution(maps, k2, b2))
        maps = dropout(training.pool(maps, "max"), common.rate(args, 0.25), training=is_training)
        hidden = tensor.nnet.relu(training.dense(maps.flatten(2), d1, b3))
        hidden = dropout(hidden, common.rate(args, 0.5), training=is_training)
        return tensor.nnet.softmax(training.dense(hidden, d2, b4))

    return model


def main():
    workload = common.cnn()
    workload.rows = common.channels_first(workload.rows)
    k1, b1, k2, b2, d1, *rest = workload.weights
    kernels = [training.turned(common.kernel_channels_first(kernel)) for kernel in (k1, k2)]
    with common.mark.phase("construct"):
        dense = common.rows_channels_first(d1, (12, 12, 64))
        weights = training.shared([kernels[0], b1, kernels[1], b2, dense, *rest])
        model = build(workload.args, weights)
    functions = training.steps(model, weights, training.rmsprop, tensor.ftensor4("rows"), workload.args.mode)
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
