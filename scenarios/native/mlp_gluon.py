"""The MNIST MLP of `scenarios/mlp.py` in Gluon, without Keras."""

import mxnet as mx
from mxnet.gluon.nn import Dense, Dropout, HybridSequential

import common
import training_gluon as training


def build(args, weights):
    """784-512-512-10 with dropout."""
    model = HybridSequential()
    model.add(
        Dense(512, activation="relu", in_units=784), Dropout(common.rate(args, 0.2)),
        Dense(512, activation="relu", in_units=512), Dropout(common.rate(args, 0.2)),
        Dense(10, in_units=512),
    )  # fmt: skip
    training.load(model, [weight.T for weight in weights])
    return model


def main():
    workload = common.mlp()
    mx.random.seed(workload.args.seed)
    with common.mark.phase("construct"):
        model = build(workload.args, workload.weights)
    rmsprop = {"learning_rate": 0.001, "gamma1": 0.9, "epsilon": 1e-7}
    common.run(workload, *training.steps(model, "rmsprop", rmsprop))


if __name__ == "__main__":
    main()
