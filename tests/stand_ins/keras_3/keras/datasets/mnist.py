"""Digits."""

from keras.src.datasets.mnist import load_data

__all__ = ["load_data"]
