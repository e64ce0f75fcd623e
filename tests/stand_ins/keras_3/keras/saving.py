"""Whole models in files."""

from keras.src.saving import load_model, save_model

__all__ = ["load_model", "save_model"]
