from keras.datasets import mnist

__all__ = ["mnist"]
