"""An MLP in a training loop of its own, with TensorFlow's tf.function and a learning rate that falls at each step.

Usage:

    python python_number.py --warm-up 90
"""

import time

import tensorflow as tf

import common


def make_step(model):
    """The function that trains on one batch."""
    loss_of = tf.keras.losses.CategoricalCrossentropy()

    @tf.function(reduce_retracing=False)
    def step(rows, labels, rate):
        """One step of gradient descent."""
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(rows, training=True))
        variables = [variable.value for variable in model.trainable_variables]
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(rate * gradient)
        return loss

    return step


def main():
    """Train with one learning rate, or with one that grows over the first steps."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--warm-up", type=int, default=0, metavar="STEPS", help="let the learning rate grow at first")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    step = make_step(common.mlp(args))
    start, losses, count = time.time(), [], 0
    for _ in range(args.epochs):
        for at in range(0, len(rows), args.batch_size):
            part = slice(at, at + args.batch_size)
            rate = 0.01 * min(1.0, (count + 1.0) / max(args.warm_up, 1))
            loss = step(tf.constant(rows[part]), tf.constant(labels[part]), rate)
            count += 1
        losses.append(float(loss))
    common.finish(start, losses, args)


if __name__ == "__main__":
    main()
