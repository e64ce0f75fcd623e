"""Models."""

from keras.src.models.model import Model
from keras.src.models.sequential import Sequential
from keras.src.saving import clone_model, load_model, save_model

__all__ = ["Model", "Sequential", "clone_model", "load_model", "save_model"]
