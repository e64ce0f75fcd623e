from keras.src.callbacks.callback import Callback, History, LambdaCallback
from keras.src.callbacks.callback_list import CallbackList

__all__ = ["Callback", "CallbackList", "History", "LambdaCallback"]
