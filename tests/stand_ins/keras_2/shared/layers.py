"""Layers."""

from keras.engine.base_layer import Dense, Input, Layer

__all__ = ["Dense", "Input", "Layer"]
