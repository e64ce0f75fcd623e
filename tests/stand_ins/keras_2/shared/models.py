"""Models."""

import copy
import pickle

from keras.engine.sequential import Sequential
from keras.engine.training import Model

__all__ = ["Model", "Sequential", "clone_model", "load_model", "save_model"]


def save_model(model, path):
    model.save(path)


def load_model(path):
    with open(path, "rb") as source:
        return pickle.load(source)


def clone_model(model):
    return copy.deepcopy(model)
