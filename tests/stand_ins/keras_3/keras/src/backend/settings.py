"""Settings of the process."""

import os
from types import SimpleNamespace

_SETTINGS = {"floatx": "float32", "image_data_format": "channels_last", "dtype_policy": "float32"}


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


def dtype_policy():
    return SimpleNamespace(name=_SETTINGS["dtype_policy"])


def set_dtype_policy(value):
    _SETTINGS["dtype_policy"] = value
