"""Layers and sessions with TensorFlow 1: a graph, placeholders, a session that runs it.

Its own RMSprop begins with mean squares of 1, so its first losses differ from those of Keras.
"""

import tensorflow as tf


def variables(arrays):
    """The weights of a model."""
    return [tf.Variable(array) for array in arrays]


def dense(name, rows, kernel, bias):
    """A dense layer; `name` shows in traces."""
    with tf.name_scope(name):
        return tf.matmul(rows, kernel) + bias


def convolution(name, rows, kernel, bias, padding="VALID"):
    """A convolution of images with the colours last."""
    with tf.name_scope(name):
        return tf.nn.bias_add(tf.nn.conv2d(rows, kernel, 1, padding), bias)


def steps(logits, rows, training, optimizer):
    """The functions that `common.run` takes.

    Args:
        logits: The model's result.
        rows: Placeholder of the rows.
        training: Placeholder: whether dropout drops anything.
        optimizer: Has `minimize`.
    """
    labels = tf.compat.v1.placeholder(tf.float32, (None, int(logits.shape[1])))
    with tf.name_scope("loss"):
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    right = tf.reduce_sum(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1)), tf.float32))
    found = tf.nn.softmax(logits)
    with tf.name_scope("optimizer"):
        minimize = optimizer.minimize(loss)
    session = tf.compat.v1.Session()
    session.run(tf.compat.v1.global_variables_initializer())

    def step(rows_now, labels_now):
        return session.run([loss, minimize], {rows: rows_now, labels: labels_now, training: True})[0]

    def test(rows_now, labels_now):
        return session.run([loss, right], {rows: rows_now, labels: labels_now, training: False})

    def predict(rows_now):
        return session.run(found, {rows: rows_now, training: False})

    return step, test, predict


def dropout(name, rows, rate, training):
    """Dropout, in training."""
    return tf.nn.dropout(rows, rate=tf.where(training, rate, 0.0), name=name) if rate else rows
