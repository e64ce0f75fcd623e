"""The MNIST MLP of `scenarios/mlp.py` in Caffe2, without Keras."""

from caffe2.python import brew

import common
import training_caffe2 as training


def build(args):
    """784-512-512-10 with dropout."""
    rate = common.rate(args, 0.2)

    def model(helper, rows, is_training):
        hidden = brew.relu(helper, brew.fc(helper, rows, "dense_1", 784, 512), "relu_1")
        hidden = brew.dropout(helper, hidden, "dropout_1", ratio=rate, is_test=int(not is_training))
        hidden = brew.relu(helper, brew.fc(helper, hidden, "dense_2", 512, 512), "relu_2")
        hidden = brew.dropout(helper, hidden, "dropout_2", ratio=rate, is_test=int(not is_training))
        return brew.fc(helper, hidden, "dense_3", 512, 10)

    return model


def main():
    workload = common.mlp()
    k1, b1, k2, b2, k3, b3 = workload.weights
    weights = {
        "dense_1_w": k1.T,
        "dense_1_b": b1,
        "dense_2_w": k2.T,
        "dense_2_b": b2,
        "dense_3_w": k3.T,
        "dense_3_b": b3,
    }
    with common.mark.phase("construct"):
        net = training.Net(build(workload.args), weights, training.rmsprop, workload.rows[:1])
    common.run(workload, *net.functions())


if __name__ == "__main__":
    main()
