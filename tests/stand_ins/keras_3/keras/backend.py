"""What of the settings has its place in `keras.backend`, too."""

from keras.src.backend.settings import backend, floatx, image_data_format, set_floatx, set_image_data_format

__all__ = ["backend", "floatx", "image_data_format", "set_floatx", "set_image_data_format"]
