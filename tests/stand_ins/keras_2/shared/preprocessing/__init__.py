from keras.preprocessing import sequence

__all__ = ["sequence"]
