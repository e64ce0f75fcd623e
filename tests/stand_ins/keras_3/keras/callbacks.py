"""Callbacks."""

from keras.src.callbacks import Callback, CallbackList, History, LambdaCallback

__all__ = ["Callback", "CallbackList", "History", "LambdaCallback"]
