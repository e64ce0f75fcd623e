"""The MNIST MLP of `scenarios/mlp.py` in PyTorch, without Keras."""

from collections import OrderedDict

import torch
from torch.nn import Dropout, Linear, ReLU

import common
import training_torch as training


def build(args, weights):
    """784-512-512-10 with dropout."""
    model = torch.nn.Sequential(OrderedDict([
        ("dense_1", Linear(784, 512)), ("relu_1", ReLU()), ("dropout_1", Dropout(common.rate(args, 0.2))),
        ("dense_2", Linear(512, 512)), ("relu_2", ReLU()), ("dropout_2", Dropout(common.rate(args, 0.2))),
        ("dense_3", Linear(512, 10)),
    ]))  # fmt: skip
    training.load(model, [weight.T for weight in weights])
    return model


def main():
    workload = common.mlp()
    training.seed(workload.args.seed)
    with common.mark.phase("construct"):
        model = build(workload.args, workload.weights)
        optimizer = torch.optim.RMSprop(model.parameters(), lr=0.001, alpha=0.9, eps=1e-7)
    common.mark.model(model, optimizer)
    common.run(workload, *training.steps(model, optimizer))


if __name__ == "__main__":
    main()
