"""The MNIST MLP of `scenarios/mlp.py` in CNTK, without Keras."""

import cntk

import common
import training_cntk as training


def build(args, rows, weights):
    """784-512-512-10 with dropout."""
    rate = common.rate(args, 0.2)
    k1, b1, k2, b2, k3, b3 = weights
    hidden = cntk.relu(training.dense("dense_1", rows, k1, b1), name="relu_1")
    hidden = cntk.relu(training.dense("dense_2", training.dropout("dropout_1", hidden, rate), k2, b2), name="relu_2")
    return training.dense("dense_3", training.dropout("dropout_2", hidden, rate), k3, b3)


def main():
    workload = common.mlp()
    with common.mark.phase("construct"):
        rows, weights = cntk.input_variable(784), training.parameters(workload.weights)
        logits = build(workload.args, rows, weights)
        functions = training.steps(logits, rows, 10, training.rmsprop(weights))
    common.mark.model(logits, "optimizer")
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
