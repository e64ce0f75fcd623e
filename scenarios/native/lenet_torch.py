"""LeNet of `scenarios/lenet.py` in PyTorch, without Keras."""

from collections import OrderedDict

import torch
from torch.nn import AvgPool2d, Conv2d, Flatten, Linear, Tanh

import common
import training_torch as training


def build(weights):
    """Conv 6 5x5, Conv 16 5x5, each with AveragePool 2, Dense 120, 84 and 10, with tanh."""
    model = torch.nn.Sequential(OrderedDict([
        ("conv_1", Conv2d(1, 6, 5, padding=2)), ("tanh_1", Tanh()), ("pool_1", AvgPool2d(2)),
        ("conv_2", Conv2d(6, 16, 5)), ("tanh_2", Tanh()), ("pool_2", AvgPool2d(2)), ("flatten", Flatten()),
        ("dense_1", Linear(400, 120)), ("tanh_3", Tanh()), ("dense_2", Linear(120, 84)), ("tanh_4", Tanh()),
        ("dense_3", Linear(84, 10)),
    ]))  # fmt: skip
    k1, b1, k2, b2, d1, *rest = weights
    convolutions = [common.kernel_channels_first(k1), b1, common.kernel_channels_first(k2), b2]
    dense = common.rows_channels_first(d1, (5, 5, 16))
    training.load(model, [*convolutions, dense.T, *[weight.T for weight in rest]])
    return model


def main():
    workload = common.lenet()
    workload.rows = common.channels_first(workload.rows)
    with common.mark.phase("construct"):
        model = build(workload.weights)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    common.mark.model(model, optimizer)
    common.run(workload, *training.steps(model, optimizer))


if __name__ == "__main__":
    main()
