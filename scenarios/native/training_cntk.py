"""Layers, optimisers and steps with CNTK."""

import cntk
import numpy as np

ALL = cntk.Axis.all_axes()


def parameters(arrays):
    """The weights of a model."""
    return [cntk.parameter(init=np.ascontiguousarray(array, "float32")) for array in arrays]


def dense(name, rows, kernel, bias):
    """A dense layer; `name` shows in traces."""
    return cntk.plus(cntk.times(rows, kernel), bias, name=name)


def convolution(name, rows, kernel, bias, padding=False):
    """A convolution of images with the colours first."""
    found = cntk.convolution(kernel, rows, auto_padding=[False, padding, padding])
    return cntk.plus(found, cntk.reshape(bias, (-1, 1, 1)), name=name)


def pool(name, rows, kind):
    """Windows of 2 x 2."""
    return cntk.pooling(rows, kind, (2, 2), (2, 2), name=name)


def dropout(name, rows, rate):
    """Dropout, which CNTK leaves out of evaluation by itself."""
    return cntk.dropout(rows, rate, name=name) if rate else rows


def rmsprop(weights, learning_rate=0.001, rho=0.9, epsilon=1e-7):
    """RMSprop as Keras 2 has it. CNTK's own learners divide a gradient by the samples, and their RMSprop is another."""

    def updates(weights, gradients):
        found = []
        for weight, gradient in zip(weights, gradients):
            square = _zeros(weight)
            new = cntk.assign(square, rho * square + (1.0 - rho) * gradient * gradient)
            found.append(cntk.assign(weight, weight - learning_rate * gradient / (cntk.sqrt(new) + epsilon)))
        return cntk.combine(found)

    return cntk.universal(updates, weights)


def adam(weights, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
    """Adam. The powers of the two rates are kept, because CNTK has no count of steps."""

    def updates(weights, gradients):
        powers = [cntk.constant(1, shape=(1,), dtype=np.float32) for _ in range(2)]
        now = [cntk.assign(power, power * beta) for power, beta in zip(powers, (beta_1, beta_2))]
        rate = learning_rate * cntk.sqrt(1.0 - now[1]) / (1.0 - now[0])
        found = []
        for weight, gradient in zip(weights, gradients):
            first, second = _zeros(weight), _zeros(weight)
            new_first = cntk.assign(first, beta_1 * first + (1.0 - beta_1) * gradient)
            new_second = cntk.assign(second, beta_2 * second + (1.0 - beta_2) * gradient * gradient)
            found.append(cntk.assign(weight, weight - rate * new_first / (cntk.sqrt(new_second) + epsilon)))
        return cntk.combine(found)

    return cntk.universal(updates, weights)


def sgd(weights, learning_rate):
    """Gradient descent."""

    def updates(weights, gradients):
        return cntk.combine([cntk.assign(w, w - learning_rate * g) for w, g in zip(weights, gradients)])

    return cntk.universal(updates, weights)


def _zeros(weight):
    return cntk.constant(0, shape=weight.shape, dtype=np.float32)


def steps(logits, rows, classes, learner, fed=lambda rows: rows):
    """The functions that `common.run` takes.

    Args:
        logits: The model, a function of `rows`.
        rows: Input variable.
        classes: Their number.
        learner: Of CNTK.
        fed: Function from rows of NumPy to what the input takes.
    """
    labels = cntk.input_variable(classes)
    loss = cntk.reduce_mean(cntk.cross_entropy_with_softmax(logits, labels), axis=ALL)
    right = cntk.reduce_sum(1 - cntk.classification_error(logits, labels), axis=ALL)
    trainer = cntk.Trainer(logits, (loss, None), [learner])
    found, tested = cntk.softmax(logits), cntk.combine([loss, right])

    def step(rows_now, labels_now):
        trainer.train_minibatch({rows: fed(rows_now), labels: labels_now})
        # The loss is already a mean; CNTK divides it by the samples once more.
        return trainer.previous_minibatch_loss_average * trainer.previous_minibatch_sample_count

    def test(rows_now, labels_now):
        values = tested.eval({rows: fed(rows_now), labels: labels_now})
        return tuple(float(np.asarray(values[output]).item()) for output in tested.outputs)

    def predict(rows_now):
        return np.asarray(found.eval({rows: fed(rows_now)}))

    return step, test, predict
