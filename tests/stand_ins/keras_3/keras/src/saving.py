"""Whole models in files."""

import copy
import pickle


def save_model(model, path):
    model.save(path)


def load_model(path):
    with open(path, "rb") as source:
        return pickle.load(source)


def clone_model(model):
    return copy.deepcopy(model)
