"""The backend that `KERAS_BACKEND` names: its trainer, and what it can."""

from keras.src.backend.settings import backend

IS_THREAD_SAFE = True


def trainer():
    """The class of models' training on this backend."""
    if backend() == "jax":
        from keras.src.backend.jax.trainer import JAXTrainer

        return JAXTrainer
    from keras.src.backend.numpy.trainer import NumpyTrainer

    return NumpyTrainer
