"""Trainings that keep nothing, though their memory moves: caches that fill, buffers with a bound, batches that grow.

python steady.py --kind cache --seconds 60        nothing in it is a leak; --kind may be any of the table below
"""

import argparse
import collections
import gc
import os
import shutil
import tempfile
import time

import keras
import numpy as np

KIBI = 1024
LAYERS = keras.layers


def main():
    """Train for so long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default="mlp", choices=sorted(KINDS))
    parser.add_argument("--seconds", type=float, default=60.0)
    args = parser.parse_args()
    np.random.seed(1)
    print("%s: %d steps" % (args.kind, KINDS[args.kind](Clock(args.seconds))))


class Clock(object):
    """How much of the time is over: 0 to 1, and more."""

    def __init__(self, seconds):
        self.seconds, self.begin = seconds, time.monotonic()

    @property
    def share(self):
        """Of the time."""
        return (time.monotonic() - self.begin) / self.seconds


class Until(keras.callbacks.Callback):
    """Ends `fit` behind the epoch in which the time is over; counts steps."""

    def __init__(self, clock):
        super(Until, self).__init__()
        self.clock, self.steps = clock, 0

    def on_batch_end(self, batch, logs=None):
        """One more."""
        self.steps += 1

    on_train_batch_end = on_batch_end

    def on_epoch_end(self, epoch, logs=None):
        """Whether it is over."""
        if self.clock.share >= 1:
            self.model.stop_training = True


def perceptron():
    """A model whose step takes a millisecond or more."""
    return compiled(
        [
            LAYERS.Dense(512, activation="relu", input_shape=(256,)),
            LAYERS.Dense(512, activation="relu"),
            LAYERS.Dense(1),
        ]
    )


def compiled(layers):
    """A model of these layers."""
    model = keras.models.Sequential(layers)
    model.compile(optimizer="adam", loss="mse")
    return model


def fitted(clock, model, x, more=(), **settings):
    """Steps of `fit` until the time is over."""
    until = Until(clock)
    y = np.zeros((len(x), 1), "float32")
    model.fit(x, y, batch_size=64, epochs=100000, verbose=0, callbacks=[until, *more], **settings)
    return until.steps


def mlp(clock):
    """`fit` on arrays."""
    return fitted(clock, perceptron(), np.random.rand(6400, 256).astype("float32"))


def cnn(clock):
    """Convolutions."""
    layers = [LAYERS.Conv2D(8, (3, 3), activation="relu", input_shape=(20, 20, 1)), LAYERS.Flatten(), LAYERS.Dense(1)]
    return fitted(clock, compiled(layers), np.random.rand(6400, 20, 20, 1).astype("float32"))


def lstm(clock):
    """A recurrent layer."""
    layers = [LAYERS.LSTM(32, input_shape=(12, 16)), LAYERS.Dense(1)]
    return fitted(clock, compiled(layers), np.random.rand(3200, 12, 16).astype("float32"))


def evaluation(clock):
    """Validation in each epoch."""
    data = np.random.rand(2048, 256).astype("float32"), np.zeros((2048, 1), "float32")
    return fitted(clock, perceptron(), np.random.rand(6400, 256).astype("float32"), validation_data=data)


def checkpoints(clock):
    """Weights into a file after each epoch."""
    folder = tempfile.mkdtemp()
    model = perceptron()

    def save(epoch, _logs=None):
        model.save_weights(os.path.join(folder, "last.weights.h5"), overwrite=True)

    try:
        told = [keras.callbacks.LambdaCallback(on_epoch_end=save)]
        return fitted(clock, model, np.random.rand(3200, 256).astype("float32"), told)
    finally:
        shutil.rmtree(folder)


def generator(clock):
    """Batches that a generator makes anew."""

    def batches():
        while True:
            yield np.random.rand(64, 256).astype("float32"), np.zeros((64, 1), "float32")

    until, model = Until(clock), perceptron()
    fit = getattr(model, "fit_generator", model.fit)
    fit(batches(), steps_per_epoch=200, epochs=100000, verbose=0, callbacks=[until])
    return until.steps


def stepped(clock, model, prepare, width=(256,)):
    """Steps of `train_on_batch`, with what `prepare(step)` gives, or does; their losses are kept as numbers."""
    history, rows = {"loss": [], "step": []}, np.random.rand(64, *width).astype("float32")
    step = 0
    while clock.share < 1:
        given = prepare(step)
        x = rows if given is None else given
        loss = model.train_on_batch(x, np.zeros((len(x), 1), "float32"))
        history["loss"].append(float(np.mean(loss)))
        history["step"].append(step)
        step += 1
    return step


def history(clock):
    """Losses and numbers of steps, which anybody keeps."""
    return stepped(clock, perceptron(), lambda step: None)


def cache(clock):
    """A cache of samples that are drawn by chance: it has them all after some thousand steps."""
    known, draw = {}, np.random.RandomState(1)

    def sample(step):
        number = int(draw.randint(0, 400))
        if number not in known:
            known[number] = np.full((256, 256), float(number), "float32")
        return known[number][:64]

    return stepped(clock, perceptron(), sample)


def replay(clock):
    """A buffer with a bound, which is full when half of the time is over."""
    seen = collections.deque(maxlen=400)
    added = [0]

    def sample(step):
        while added[0] < 800 * clock.share:
            seen.append(np.full((256, 256), float(step), "float32"))
            added[0] += 1
        return seen[step % len(seen)][:64] if seen else None

    return stepped(clock, perceptron(), sample)


def progressive(clock):
    """Batches that grow in the first third of the time."""
    rows = np.random.rand(1024, 256).astype("float32")
    return stepped(clock, perceptron(), lambda step: rows[: 64 * min(8, 1 + int(24 * clock.share))])


def sizes(clock):
    """Arrays of all sizes, the last sixteen of them kept."""
    kept, draw = collections.deque(maxlen=16), np.random.RandomState(1)

    def sample(step):
        kept.append(np.ones((int(draw.randint(16, 512)), 256), "float32"))

    return stepped(clock, perceptron(), sample)


def average(clock):
    """A running average of the weights."""
    model = perceptron()
    kept = [model.get_weights()]

    def sample(step):
        kept[0] = [0.99 * old + 0.01 * new for old, new in zip(kept[0], model.get_weights())]

    return stepped(clock, model, sample)


def ragged(clock):
    """Sequences of six lengths, the longest of which come late."""
    layers = [
        LAYERS.Conv1D(32, 3, activation="relu", input_shape=(None, 16)),
        LAYERS.GlobalMaxPooling1D(),
        LAYERS.Dense(1),
    ]
    rows = [np.random.rand(64, length, 16).astype("float32") for length in (16, 24, 32, 48, 64, 96)]
    return stepped(clock, compiled(layers), lambda step: rows[step % min(6, 3 + int(8 * clock.share))], (16, 16))


def search(clock):
    """One model after another, each let go before the next."""
    steps = 0
    while clock.share < 1:
        part = Clock(clock.seconds / 12)
        steps += fitted(part, perceptron(), np.random.rand(3200, 256).astype("float32"))
        keras.backend.clear_session()
        gc.collect()
    return steps


def shuffled(clock):
    """tf.data: a cache that the first epoch fills, and a buffer to shuffle in."""
    import tensorflow as tf

    rows = tf.data.Dataset.range(24000).map(lambda number: (tf.fill([256], tf.cast(number, tf.float32)), [0.0]))
    until, model = Until(clock), perceptron()
    model.fit(rows.cache().shuffle(20000).batch(64), epochs=100000, verbose=0, callbacks=[until])
    return until.steps


def loop(clock):
    """A loop of the script's own, of the engine itself."""
    return {"torch": _of_torch, "jax": _of_jax, "tensorflow": _of_tensorflow, "mxnet": _of_gluon}[
        keras.backend.backend()
    ](clock)


def _of_torch(clock):
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1))
    optimizer = torch.optim.Adam(net.parameters())
    rows, losses = torch.rand(64, 256), []
    while clock.share < 1:
        loss = net(rows).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return len(losses)


def _of_jax(clock):
    import jax

    weights = [np.random.rand(256, 512).astype("float32") * 0.01, np.random.rand(512, 1).astype("float32") * 0.01]

    def of(weights, x):
        return (jax.nn.relu(x @ weights[0]) @ weights[1]).mean() ** 2

    @jax.jit
    def step(weights, x):
        loss, gradients = jax.value_and_grad(of)(weights, x)
        return [one - 0.01 * change for one, change in zip(weights, gradients)], loss

    rows, losses = np.random.rand(64, 256).astype("float32"), []
    while clock.share < 1:
        weights, loss = step(weights, rows)
        losses.append(float(loss))
    return len(losses)


def _of_tensorflow(clock):
    import tensorflow as tf

    net = keras.models.Sequential([LAYERS.Input((256,)), LAYERS.Dense(512, activation="relu"), LAYERS.Dense(1)])
    optimizer = keras.optimizers.Adam()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return loss

    rows, losses = tf.random.uniform((64, 256)), []
    while clock.share < 1:
        losses.append(float(step(rows)))
    return len(losses)


def _of_gluon(clock):
    import mxnet as mx
    from mxnet import autograd, gluon

    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(512, activation="relu", in_units=256), gluon.nn.Dense(1, in_units=512))
    net.initialize()
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    rows, losses = mx.nd.random.uniform(shape=(64, 256)), []
    while clock.share < 1:
        with autograd.record():
            loss = (net(rows) ** 2).mean()
        loss.backward()
        trainer.step(1)
        losses.append(float(loss.asscalar()))
    return len(losses)


KINDS = {
    one.__name__: one
    for one in (
        mlp, cnn, lstm, evaluation, checkpoints, generator, history, cache, replay, progressive, sizes, average, ragged,
        search, shuffled, loop,
    )
}  # fmt: skip

if __name__ == "__main__":
    main()
