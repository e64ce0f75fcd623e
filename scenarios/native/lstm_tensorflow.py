"""The LSTM on film reviews of `scenarios/lstm.py` in TensorFlow 2, without Keras."""

import tensorflow as tf

import common
import training_tensorflow as training


def lstm(rows, kernel, recurrent, bias):
    """The last output of an LSTM over rows of shape (batch, time, inputs)."""
    with tf.name_scope("lstm_1"):
        inputs = tf.transpose(tf.matmul(rows, kernel) + bias, (1, 0, 2))
        zeros = tf.zeros((tf.shape(rows)[0], recurrent.shape[0]))

        def cell(time, hidden, memory):
            gates = inputs[time] + tf.matmul(hidden, recurrent)
            ingate, forget, new, out = tf.split(gates, 4, axis=1)
            memory = tf.sigmoid(forget) * memory + tf.sigmoid(ingate) * tf.tanh(new)
            return time + 1, tf.sigmoid(out) * tf.tanh(memory), memory

        steps = tf.shape(inputs)[0]
        _, hidden, _ = tf.while_loop(lambda time, *_: time < steps, cell, (0, zeros, zeros))
    return hidden


def model(weights, rows, _is_training):
    """Embedding, LSTM, Dense 2 on its last output."""
    embedding, kernel, recurrent, bias, dense, dense_bias = weights
    found = tf.nn.embedding_lookup(embedding, rows, name="embedding_1")
    return training.dense("dense_1", lstm(found, kernel, recurrent, bias), dense, dense_bias)


def main():
    workload = common.lstm()
    with common.mark.phase("construct"):
        weights = training.variables(workload.weights)
        optimizer = training.Adam(weights)
    common.mark.model(["embedding_1", "lstm_1", "dense_1"], "optimizer")
    common.run(workload, *training.steps(model, weights, optimizer))


if __name__ == "__main__":
    main()
