"""A tiny training with Keras, of any version on any engine, in the way that the argument names."""

import os
import subprocess
import sys
import threading

import numpy

import keras
import stage

how = sys.argv[1] if len(sys.argv) > 1 else "plain"
rows = numpy.arange(48, dtype="float32").reshape(16, 3) / 48
wanted = rows.sum(axis=1, keepdims=True)


def trained(callbacks=(), epochs=2):
    made = keras.models.Sequential()
    made.add(keras.layers.Dense(2, input_shape=(3,)) if keras.__version__ < "3" else keras.layers.Dense(2))
    made.add(keras.layers.Dense(1))
    made.build((None, 3))
    made.set_weights([numpy.full((3, 2), 0.5), numpy.zeros(2), numpy.full((2, 1), 0.5), numpy.zeros(1)])
    made.compile("sgd", "mse")
    told = made.fit(rows, wanted, batch_size=4, epochs=epochs, verbose=0, shuffle=False, callbacks=list(callbacks))
    print("loss", ["%.3f" % one for one in told.history["loss"]], flush=True)
    return made


class InTheMiddle(keras.callbacks.Callback):
    """Does something in the second batch."""

    def __init__(self, act):
        super().__init__()
        self._act = act

    def on_batch_end(self, batch, logs=None):
        if batch == 1:
            self._act()


def plain():
    made = trained()
    print(["%.3f" % one for one in made.predict(rows[:2], verbose=0)[:, 0]], "%.3f" % made.evaluate(rows, wanted, verbose=0))
    thread = threading.Thread(target=trained)
    thread.start()
    thread.join()
    print(subprocess.run(["sh", "-c", "exit 5"]).returncode)
    sys.exit(3)


def interrupted():
    def act():
        stage.ready()
        stage.until(lambda: False, 20)

    try:
        trained([InTheMiddle(act)])
    except KeyboardInterrupt:
        print("stopped politely", flush=True)
        trained()
        os._exit(9)


def fails():
    def act():
        raise ValueError("in a callback \u00e9")

    try:
        trained([InTheMiddle(act)])
    except ValueError as error:
        print(error.args, error.__cause__, flush=True)
    trained()
    os._exit(4)


def closes():
    """All that is beyond the three standard ones; then files of its own."""
    trained()
    os.closerange(100, 4096)
    files = [open("own%02d" % n, "w") for n in range(20)]
    trained()
    for file in files:
        file.write("mine\n")
        file.close()
    os._exit(0)


def replaces():
    """What is replaced under the hooks of a training."""
    import json

    json.dumps = lambda o: b"bytes"
    trained()


def killed():
    trained([InTheMiddle(lambda: os.kill(os.getpid(), 9))])


globals()[how]()
