"""LeNet of `scenarios/lenet.py` in Caffe2, without Keras."""

from caffe2.python import brew

import common
import training_caffe2 as training


def build(helper, rows, _is_training):
    """Conv 6 5x5, Conv 16 5x5, each with AveragePool 2, Dense 120, 84 and 10, with tanh."""
    maps = brew.tanh(helper, brew.conv(helper, rows, "conv_1", 1, 6, 5, pad=2), "tanh_1")
    maps = brew.average_pool(helper, maps, "pool_1", kernel=2, stride=2)
    maps = brew.tanh(helper, brew.conv(helper, maps, "conv_2", 6, 16, 5), "tanh_2")
    maps = brew.average_pool(helper, maps, "pool_2", kernel=2, stride=2)
    hidden = brew.tanh(helper, brew.fc(helper, maps, "dense_1", 400, 120), "tanh_3")
    hidden = brew.tanh(helper, brew.fc(helper, hidden, "dense_2", 120, 84), "tanh_4")
    return brew.fc(helper, hidden, "dense_3", 84, 10)


def main():
    workload = common.lenet()
    workload.rows = common.channels_first(workload.rows)
    k1, b1, k2, b2, d1, b3, d2, b4, d3, b5 = workload.weights
    weights = {
        "conv_1_w": common.kernel_channels_first(k1), "conv_1_b": b1,
        "conv_2_w": common.kernel_channels_first(k2), "conv_2_b": b2,
        "dense_1_w": common.rows_channels_first(d1, (5, 5, 16)).T, "dense_1_b": b3, "dense_2_w": d2.T, "dense_2_b": b4,
        "dense_3_w": d3.T, "dense_3_b": b5,
    }  # fmt: skip
    with common.mark.phase("construct"):
        net = training.Net(build, weights, training.sgd, workload.rows[:1])
    common.run(workload, *net.functions())


if __name__ == "__main__":
    main()
