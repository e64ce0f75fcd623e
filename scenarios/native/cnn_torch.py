"""The MNIST CNN of `scenarios/cnn.py` in PyTorch, without Keras."""

from collections import OrderedDict

import torch
from torch.nn import Conv2d, Dropout, Flatten, Linear, MaxPool2d, ReLU

import common
import training_torch as training


def build(args, weights):
    """Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10, with dropout."""
    model = torch.nn.Sequential(OrderedDict([
        ("conv_1", Conv2d(1, 32, 3)), ("relu_1", ReLU()), ("conv_2", Conv2d(32, 64, 3)), ("relu_2", ReLU()),
        ("pool_1", MaxPool2d(2)), ("dropout_1", Dropout(common.rate(args, 0.25))), ("flatten", Flatten()),
        ("dense_1", Linear(9216, 128)), ("relu_3", ReLU()), ("dropout_2", Dropout(common.rate(args, 0.5))),
        ("dense_2", Linear(128, 10)),
    ]))  # fmt: skip
    k1, b1, k2, b2, d1, b3, d2, b4 = weights
    d1 = common.rows_channels_first(d1, (12, 12, 64))
    convolutions = [common.kernel_channels_first(k1), b1, common.kernel_channels_first(k2), b2]
    training.load(model, [*convolutions, d1.T, b3, d2.T, b4])
    return model


def main():
    workload = common.cnn()
    workload.rows = common.channels_first(workload.rows)
    training.seed(workload.args.seed)
    with common.mark.phase("construct"):
        model = build(workload.args, workload.weights)
        optimizer = torch.optim.RMSprop(model.parameters(), lr=0.001, alpha=0.9, eps=1e-7)
    common.mark.model(model, optimizer)
    common.run(workload, *training.steps(model, optimizer))


if __name__ == "__main__":
    main()
