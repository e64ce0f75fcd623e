"""Optimisers."""


class Optimizer:
    def __init__(self, learning_rate=0.01, name=None):
        self.learning_rate = learning_rate
        self.name = name or type(self).__name__.lower()
        self.built = False

    def build(self, _variables):
        self.built = True

    def get_config(self):
        return {"name": self.name, "learning_rate": self.learning_rate, "clipnorm": None}

    def apply(self, gradients, variables):
        for gradient, variable in zip(gradients, variables):
            self.update_step(gradient, variable)


class SGD(Optimizer):
    def update_step(self, gradient, variable):
        variable.assign(variable.value - self.learning_rate * gradient)


def get(optimizer):
    return SGD() if optimizer == "sgd" else optimizer
