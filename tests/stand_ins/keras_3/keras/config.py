"""Settings of Keras."""

from keras.src.backend.settings import (
    backend,
    dtype_policy,
    floatx,
    image_data_format,
    set_dtype_policy,
    set_floatx,
    set_image_data_format,
)

__all__ = [
    "backend",
    "dtype_policy",
    "floatx",
    "image_data_format",
    "set_dtype_policy",
    "set_floatx",
    "set_image_data_format",
]
