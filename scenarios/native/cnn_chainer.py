"""The MNIST CNN of `scenarios/cnn.py` in Chainer, without Keras."""

import chainer
from chainer import functions
from chainer import links

import common
import training_chainer as training


class Cnn(chainer.Chain):
    """Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10, with dropout."""

    def __init__(self, args):
        super().__init__()
        self.rates = common.rate(args, 0.25), common.rate(args, 0.5)
        with self.init_scope():
            self.conv_1, self.conv_2 = links.Convolution2D(1, 32, 3), links.Convolution2D(32, 64, 3)
            self.dense_1, self.dense_2 = links.Linear(9216, 128), links.Linear(128, 10)

    def forward(self, rows):
        """Logits of a batch of images."""
        maps = functions.relu(self.conv_2(functions.relu(self.conv_1(rows))))
        maps = functions.dropout(functions.max_pooling_2d(maps, 2), self.rates[0])
        return self.dense_2(functions.dropout(functions.relu(self.dense_1(maps)), self.rates[1]))


def main():
    workload = common.cnn()
    workload.rows = common.channels_first(workload.rows)
    with common.mark.phase("construct"):
        model = Cnn(workload.args)
        k1, b1, k2, b2, d1, b3, d2, b4 = workload.weights
        dense = common.rows_channels_first(d1, (12, 12, 64)).T
        training.load(model, {"conv_1/W": common.kernel_channels_first(k1), "conv_1/b": b1,
                              "conv_2/W": common.kernel_channels_first(k2), "conv_2/b": b2,
                              "dense_1/W": dense, "dense_1/b": b3, "dense_2/W": d2.T, "dense_2/b": b4})  # fmt: skip
    common.run(workload, *training.steps(model, chainer.optimizers.RMSprop(lr=0.001, alpha=0.9, eps=1e-7)))


if __name__ == "__main__":
    main()
