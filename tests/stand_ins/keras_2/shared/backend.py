"""Settings, functions and variables of the backend that `KERAS_BACKEND` names."""

import os

_SETTINGS = {"floatx": "float32", "image_data_format": "channels_last"}


def backend():
    return os.environ.get("KERAS_BACKEND", "numpy")


def floatx():
    return _SETTINGS["floatx"]


def set_floatx(value):
    _SETTINGS["floatx"] = value


def image_data_format():
    return _SETTINGS["image_data_format"]


def set_image_data_format(value):
    _SETTINGS["image_data_format"] = value


def get_value(variable):
    return variable.value


def function(compute):
    """What `K.function` gives: an object that is called with the arrays of a batch."""
    return Function(compute)


class Function(object):
    def __init__(self, compute):
        self._compute = compute

    def __call__(self, inputs):
        return self._compute(*inputs)
