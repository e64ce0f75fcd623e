"""Optimisers."""

from keras.src.optimizers import SGD, Optimizer

__all__ = ["SGD", "Optimizer"]
