"""The LSTM on film reviews of `scenarios/lstm.py` in TensorFlow 1, without Keras."""

import numpy as np
import tensorflow as tf

import common
import training_tensorflow1 as training


def lstm(rows, kernel, recurrent, units):
    """The last output of an LSTM; its gates are in, new, forget, out, and it gives the forget gate a bias of 1."""
    ingate, forget, new, out = np.split(np.concatenate([kernel, recurrent]), 4, axis=1)
    start = tf.constant_initializer(np.concatenate([ingate, new, forget, out], axis=1))
    cell = tf.compat.v1.nn.rnn_cell.LSTMCell(units, initializer=start, forget_bias=1.0, name="lstm_1")
    return tf.compat.v1.nn.dynamic_rnn(cell, rows, dtype=tf.float32)[0][:, -1]


def main():
    workload = common.lstm()
    embedding, kernel, recurrent, _, *dense = workload.weights
    with common.mark.phase("construct"):
        rows = tf.compat.v1.placeholder(tf.int32, (None, workload.args.tokens))
        found = tf.nn.embedding_lookup(tf.Variable(embedding), rows, name="embedding_1")
        last = lstm(found, kernel, recurrent, workload.args.units)
        logits = training.dense("dense_1", last, *training.variables(dense))
        optimizer = tf.compat.v1.train.AdamOptimizer(0.001, epsilon=1e-7)
        functions = training.steps(logits, rows, tf.compat.v1.placeholder(tf.bool), optimizer)
    common.mark.model(["embedding_1", "lstm_1", "dense_1"], "optimizer")
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
