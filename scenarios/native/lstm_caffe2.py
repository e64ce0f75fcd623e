"""The LSTM on film reviews of `scenarios/lstm.py` in Caffe2, without Keras."""

import numpy as np
from caffe2.python import brew, rnn_cell

import common
import training_caffe2 as training


def build(args):
    """Embedding, LSTM, Dense 2 on its last output; Caffe2 wants the time before the batch."""

    def model(helper, rows, _is_training):
        embedding = helper.param_init_net.XavierFill([], "embedding_1", shape=[args.words, args.embedding])
        helper.AddParameter(embedding)
        found = helper.net.Gather([embedding, rows], "found")
        start = ("hidden_start", "memory_start")
        _, hidden, _, _ = rnn_cell.LSTM(
            helper, found, "lengths", start, args.embedding, args.units, scope="lstm_1", outputs_with_grads=(1,)
        )
        last, _ = helper.net.Reshape(hidden, [helper.name + "_last", "_"], shape=[-1, args.units])
        return brew.fc(helper, last, "dense_1", args.units, 2)

    return model


def gates(array):
    """The four gates as Caffe2 has them: in, forget, out, new."""
    ingate, forget, new, out = np.split(array, 4, axis=-1)
    return np.concatenate([ingate, forget, out, new], axis=-1)


def main():
    workload = common.lstm()
    args = workload.args
    if len(workload.rows) % args.batch_size:
        raise SystemExit("error: Caffe2's LSTM has batches of one size: --samples must be a multiple of --batch-size")
    embedding, kernel, recurrent, bias, dense, dense_bias = workload.weights
    weights = {
        "embedding_1": embedding, "lstm_1/i2h_w": gates(kernel).T, "lstm_1/i2h_b": gates(bias),
        "lstm_1/gates_t_w": gates(recurrent).T, "lstm_1/gates_t_b": np.zeros_like(bias),
        "dense_1_w": dense.T, "dense_1_b": dense_bias,
    }  # fmt: skip
    with common.mark.phase("construct"):
        for name in ("hidden_start", "memory_start"):
            training.feed(name, np.zeros((1, args.batch_size, args.units), "float32"))
        training.feed("lengths", np.full(args.batch_size, args.tokens, "int32"))
        some = workload.rows[: args.batch_size]
        net = training.Net(build(args), weights, training.adam, some, lambda rows: np.ascontiguousarray(rows.T))
    common.run(workload, *net.functions())


if __name__ == "__main__":
    main()
