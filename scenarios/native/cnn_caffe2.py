"""The MNIST CNN of `scenarios/cnn.py` in Caffe2, without Keras."""

from caffe2.python import brew

import common
import training_caffe2 as training


def build(args):
    """Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10, with dropout."""

    def model(helper, rows, is_training):
        test = int(not is_training)
        maps = brew.relu(helper, brew.conv(helper, rows, "conv_1", 1, 32, 3), "relu_1")
        maps = brew.relu(helper, brew.conv(helper, maps, "conv_2", 32, 64, 3), "relu_2")
        maps = brew.max_pool(helper, maps, "pool_1", kernel=2, stride=2)
        maps = brew.dropout(helper, maps, "dropout_1", ratio=common.rate(args, 0.25), is_test=test)
        hidden = brew.relu(helper, brew.fc(helper, maps, "dense_1", 9216, 128), "relu_3")
        hidden = brew.dropout(helper, hidden, "dropout_2", ratio=common.rate(args, 0.5), is_test=test)
        return brew.fc(helper, hidden, "dense_2", 128, 10)

    return model


def main():
    workload = common.cnn()
    workload.rows = common.channels_first(workload.rows)
    k1, b1, k2, b2, d1, b3, d2, b4 = workload.weights
    weights = {
        "conv_1_w": common.kernel_channels_first(k1), "conv_1_b": b1,
        "conv_2_w": common.kernel_channels_first(k2), "conv_2_b": b2,
        "dense_1_w": common.rows_channels_first(d1, (12, 12, 64)).T, "dense_1_b": b3,
        "dense_2_w": d2.T, "dense_2_b": b4,
    }  # fmt: skip
    with common.mark.phase("construct"):
        net = training.Net(build(workload.args), weights, training.rmsprop, workload.rows[:1])
    common.run(workload, *net.functions())


if __name__ == "__main__":
    main()
