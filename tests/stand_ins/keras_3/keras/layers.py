"""Layers."""

from keras.src.layers import Dense, Input, Layer

__all__ = ["Dense", "Input", "Layer"]
