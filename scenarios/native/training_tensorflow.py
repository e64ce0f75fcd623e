"""Steps of training and inference with TensorFlow 2 and without its Keras: variables, tf.function, tf.GradientTape."""

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


def dropout(name, rows, rate, *, training):
    """Dropout, in training."""
    return tf.nn.dropout(rows, rate, name=name) if training and rate else rows


class RMSprop(object):
    """Divides each gradient by the root of the mean of its squares."""

    def __init__(self, weights, learning_rate=0.001, rho=0.9, epsilon=1e-7):
        self._rate, self._rho, self._epsilon = learning_rate, rho, epsilon
        self._squares = [tf.Variable(tf.zeros_like(weight)) for weight in weights]

    def apply(self, weights, gradients):
        """Change the weights."""
        for weight, square, gradient in zip(weights, self._squares, gradients):
            square.assign(self._rho * square + (1.0 - self._rho) * tf.square(gradient))
            weight.assign_sub(self._rate * gradient / tf.sqrt(square + self._epsilon))


class Adam(object):
    """Adam; the gradient of an embedding, which is sparse, is made dense as Keras does."""

    def __init__(self, weights, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
        self._rate, self._betas, self._epsilon = learning_rate, (beta_1, beta_2), epsilon
        self._time = tf.Variable(0.0)
        self._first = [tf.Variable(tf.zeros_like(weight)) for weight in weights]
        self._second = [tf.Variable(tf.zeros_like(weight)) for weight in weights]

    def apply(self, weights, gradients):
        """Change the weights."""
        beta_1, beta_2 = self._betas
        self._time.assign_add(1.0)
        rate = self._rate * tf.sqrt(1.0 - beta_2**self._time) / (1.0 - beta_1**self._time)
        for weight, first, second, gradient in zip(weights, self._first, self._second, gradients):
            dense_gradient = tf.convert_to_tensor(gradient)
            first.assign(beta_1 * first + (1.0 - beta_1) * dense_gradient)
            second.assign(beta_2 * second + (1.0 - beta_2) * tf.square(dense_gradient))
            weight.assign_sub(rate * first / (tf.sqrt(second) + self._epsilon))


class SGD(object):
    """Gradient descent."""

    def __init__(self, learning_rate):
        self._rate = learning_rate

    def apply(self, weights, gradients):
        """Change the weights."""
        for weight, gradient in zip(weights, gradients):
            weight.assign_sub(self._rate * gradient)


def steps(model, weights, optimizer):
    """The functions that `common.run` takes.

    Args:
        model: Function from weights, rows and whether it is training to logits.
        weights: Variables.
        optimizer: Has `apply`.
    """

    def loss_of(found, labels):
        with tf.name_scope("loss"):
            return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, found))

    @tf.function(reduce_retracing=True)
    def trained(rows, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(model(weights, rows, True), labels)
        gradients = tape.gradient(loss, weights)
        with tf.name_scope("optimizer"):
            optimizer.apply(weights, gradients)
        return loss

    @tf.function(reduce_retracing=True)
    def tested(rows, labels):
        found = model(weights, rows, False)
        right = tf.argmax(found, 1) == tf.argmax(labels, 1)
        return loss_of(found, labels), tf.reduce_sum(tf.cast(right, tf.float32))

    @tf.function(reduce_retracing=True)
    def predicted(rows):
        return tf.nn.softmax(model(weights, rows, False))

    def step(rows, labels):
        return trained(tf.constant(rows), tf.constant(labels))

    def test(rows, labels):
        return tested(tf.constant(rows), tf.constant(labels))

    def predict(rows):
        return predicted(tf.constant(rows)).numpy()

    return step, test, predict
