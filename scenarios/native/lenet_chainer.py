"""LeNet of `scenarios/lenet.py` in Chainer, without Keras."""

import chainer
from chainer import functions
from chainer import links

import common
import training_chainer as training


class LeNet(chainer.Chain):
    """Conv 6 5x5, Conv 16 5x5, each with AveragePool 2, Dense 120, 84 and 10, with tanh."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv_1, self.conv_2 = links.Convolution2D(1, 6, 5, pad=2), links.Convolution2D(6, 16, 5)
            self.dense_1, self.dense_2, self.dense_3 = (
                links.Linear(400, 120),
                links.Linear(120, 84),
                links.Linear(84, 10),
            )

    def forward(self, rows):
        """Logits of a batch of images."""
        maps = functions.average_pooling_2d(functions.tanh(self.conv_1(rows)), 2)
        maps = functions.average_pooling_2d(functions.tanh(self.conv_2(maps)), 2)
        return self.dense_3(functions.tanh(self.dense_2(functions.tanh(self.dense_1(maps)))))


def main():
    workload = common.lenet()
    workload.rows = common.channels_first(workload.rows)
    with common.mark.phase("construct"):
        model = LeNet()
        k1, b1, k2, b2, d1, b3, d2, b4, d3, b5 = workload.weights
        dense = common.rows_channels_first(d1, (5, 5, 16)).T
        training.load(model, {"conv_1/W": common.kernel_channels_first(k1), "conv_1/b": b1,
                              "conv_2/W": common.kernel_channels_first(k2), "conv_2/b": b2,
                              "dense_1/W": dense, "dense_1/b": b3, "dense_2/W": d2.T, "dense_2/b": b4,
                              "dense_3/W": d3.T, "dense_3/b": b5})  # fmt: skip
    common.run(workload, *training.steps(model, chainer.optimizers.SGD(lr=0.05)))


if __name__ == "__main__":
    main()
