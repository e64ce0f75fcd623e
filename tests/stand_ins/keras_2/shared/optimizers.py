"""Optimisers."""


class SGD(object):
    def __init__(self, lr=0.01):
        self.learning_rate = lr

    def get_config(self):
        return {"lr": self.learning_rate, "nesterov": False}


def get(optimizer):
    return SGD() if optimizer == "sgd" else optimizer
