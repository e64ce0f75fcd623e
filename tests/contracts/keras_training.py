"""What every Keras is put through, without the probe and with it: `python keras_training.py FOLDER`.

It runs on any Python from 3.6 on, with the real Keras of an environment or with a stand-in. FOLDER gets `inproc.wire`, the
stream of what ran under the probe, and `observed.json`: what the program itself saw of each of the two times.
"""

import json
import os
import sys
import traceback
import types

import numpy

ROWS = numpy.arange(30, dtype="float32").reshape(10, 3) / 30
TARGETS = ROWS.sum(axis=1, keepdims=True)
HOOKED = ("Model", "Sequential")


def weights():
    """Two dense layers, 3 to 2 to 1."""
    return [numpy.full((3, 2), 0.5), numpy.zeros(2), numpy.full((2, 1), 0.5), numpy.zeros(1)]


def program(keras, folder):
    """A small program of a user's; what it can see of its own training comes back."""
    calls = []

    class Told(keras.callbacks.Callback):
        """Notes in which order it is called."""

        def on_train_begin(self, logs=None):
            calls.append("train begin")

        def on_epoch_begin(self, epoch, logs=None):
            calls.append("epoch %d" % epoch)

        def on_batch_begin(self, batch, logs=None):
            calls.append("batch %d" % batch)

        def on_batch_end(self, batch, logs=None):
            calls.append("batch %d is over" % batch)

        def on_epoch_end(self, epoch, logs=None):
            calls.append("epoch %d is over" % epoch)

    class Predicting(keras.callbacks.Callback):
        """Asks its own model for a prediction while it is trained."""

        def on_epoch_end(self, epoch, logs=None):
            calls.append("predicted %d rows" % len(self.model.predict(ROWS, batch_size=5, verbose=0)))

    class Failing(keras.callbacks.Callback):
        """Fails in the second batch."""

        def on_batch_begin(self, batch, logs=None):
            if batch == 1:
                raise ValueError("of the user's own")

    inputs = keras.layers.Input(shape=(3,))
    hidden = keras.layers.Dense(2, name="hidden")(inputs)
    model = keras.models.Model(inputs, keras.layers.Dense(1, name="result")(hidden))
    model.compile("sgd", "mse")
    model.set_weights(weights())
    fit = {"batch_size": 4, "verbose": 0, "shuffle": False}
    history = model.fit(ROWS, TARGETS, epochs=2, validation_data=(ROWS[:6], TARGETS[:6]), callbacks=[Told()], **fit)
    seen = {"history": dict((name, [float(v) for v in values]) for name, values in history.history.items())}
    seen["evaluated"] = float(model.evaluate(ROWS, TARGETS, batch_size=5, verbose=0))
    seen["predicted"] = model.predict(ROWS, batch_size=5, verbose=0).tolist()
    seen["trained"] = [float(model.train_on_batch(ROWS[:5], TARGETS[:5])) for _ in range(3)]
    seen["tested"] = float(model.test_on_batch(ROWS[:5], TARGETS[:5]))
    seen["predicted_batch"] = numpy.asarray(model.predict_on_batch(ROWS[:5])).tolist()
    model.fit(ROWS, TARGETS, epochs=1, callbacks=[Predicting()], **fit)
    try:
        model.fit(ROWS, TARGETS, epochs=1, callbacks=[Failing()], **fit)
    except ValueError as error:
        seen["error"] = [type(error).__name__, str(error), own_lines(traceback.format_exc())]
    model.fit(ROWS, TARGETS, epochs=1, **fit)
    path = os.path.join(folder, "stored.weights.h5")
    model.save_weights(path)
    model.load_weights(path)
    seen["weights"] = [one.tolist() for one in model.get_weights()]
    seen["calls"] = calls
    return seen, model


def own_lines(text):
    """A traceback without Keras' frames, which filter themselves in ways of their own."""
    files = [line for line in text.splitlines() if line.lstrip().startswith("File ")]
    return [line for line in files if "keras_training.py" in line or "dlprof" in line or "<frozen" in line]


def replaced(keras):
    """Everything that classes and modules of Keras hold now, by name, to be compared by identity."""
    found = {}
    for name in HOOKED:
        for base in getattr(keras, name).__mro__:
            if base is not object:
                found.update(("%s.%s.%s" % (base.__module__, base.__name__, key), v) for key, v in vars(base).items())
    for key, value in vars(keras.callbacks.CallbackList).items():
        found["CallbackList." + key] = value
    for module in [name for name in sys.modules if name.split(".")[0] == "keras"]:
        for key, value in vars(sys.modules[module]).items():
            if isinstance(value, (type, types.FunctionType)):
                found["%s.%s" % (module, key)] = value
    return found


def run(keras, folder):
    """The program three times: without the probe, under it, and when it has gone; then everything is in the files."""
    from dlprof_probes.inproc.in_place import InPlace

    plain, _ = program(keras, folder)
    before = replaced(keras)
    with open(os.path.join(folder, "status"), "wb") as status:
        status.write(b" " * 1024)
    config = {"raw": folder, "status": os.path.join(folder, "status"), "script": __file__, "lines": None}
    probes = InPlace(config, [])
    probed, model = program(keras, folder)
    problems = probes.stop()
    after = replaced(keras)
    functions = [getattr(model, name, None) for name in ("train_function", "test_function", "predict_function")]
    observed = {
        "plain": plain,
        "probed": probed,
        "problems": problems,
        "left": sorted(name for name in before if after.get(name) is not before[name] and "__abc" not in name),
        "stand_ins_left": [type(one).__name__ for one in functions if type(one).__name__ == "StepFunction"],
        "backend": keras.backend.backend(),
        "version": keras.__version__,
    }
    with open(os.path.join(folder, "observed.json"), "w") as target:
        json.dump(observed, target)


if __name__ == "__main__":
    import keras as loaded

    run(loaded, sys.argv[1])
