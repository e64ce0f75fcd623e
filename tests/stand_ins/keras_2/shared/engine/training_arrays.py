"""The loops over epochs and batches of arrays."""

import numpy
from keras import callbacks as cbks


def callback_list(model, callbacks, params):
    model.history = cbks.History()
    made = cbks.CallbackList(list(callbacks or ()) + [model.history])
    made.set_model(model)
    made.set_params(params)
    return made


def _batches(inputs, batch_size):
    size = len(inputs[0])
    for start in range(0, size, batch_size):
        yield [array[start : start + batch_size] for array in inputs]


def fit_loop(model, fit_function, fit_inputs, batch_size, epochs, callbacks, val_inputs, initial_epoch=0):
    params = {"batch_size": batch_size, "epochs": epochs, "steps": None, "samples": len(fit_inputs[0])}
    callbacks = callback_list(model, callbacks, params)
    callbacks.on_train_begin()
    model.stop_training = False
    for epoch in range(initial_epoch, epochs):
        callbacks.on_epoch_begin(epoch)
        seen = []
        for index, batch in enumerate(_batches(fit_inputs, batch_size)):
            logs = {"batch": index, "size": len(batch[0])}
            cbks.call_train_batch(callbacks, "begin", index, logs)
            logs["loss"] = fit_function(batch)[0]
            seen.append((logs["loss"], logs["size"]))
            cbks.call_train_batch(callbacks, "end", index, logs)
            if model.stop_training:
                break
        logs = {"loss": numpy.average([loss for loss, _ in seen], weights=[size for _, size in seen])}
        if val_inputs:
            logs["val_loss"] = test_loop(model, model.test_function, val_inputs, batch_size=batch_size)
        callbacks.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    callbacks.on_train_end()
    return model.history


def test_loop(model, f, ins, batch_size):
    callbacks = cbks.for_loop(model)
    losses, sizes = [], []
    callbacks._call_begin_hook("test")
    for index, batch in enumerate(_batches(ins, batch_size)):
        logs = {"batch": index, "size": len(batch[0])}
        callbacks._call_batch_hook("test", "begin", index, logs)
        losses.append(f(batch)[0])
        sizes.append(len(batch[0]))
        callbacks._call_batch_hook("test", "end", index, logs)
    callbacks._call_end_hook("test")
    return numpy.average(losses, weights=sizes)


def predict_loop(model, f, ins, batch_size):
    callbacks = cbks.for_loop(model)
    outputs = []
    callbacks._call_begin_hook("predict")
    for index, batch in enumerate(_batches(ins, batch_size)):
        callbacks._call_batch_hook("predict", "begin", index, {})
        outputs.append(f(batch)[0])
        callbacks._call_batch_hook("predict", "end", index, {})
    callbacks._call_end_hook("predict")
    return numpy.concatenate(outputs)
