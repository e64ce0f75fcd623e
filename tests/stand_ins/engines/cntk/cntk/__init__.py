"""As much of CNTK as the hooks touch: functions made of functions, and trainers."""

from . import cntk_py, layers

__version__ = "2.7"


def input_variable(size):
    return layers.Variable("Input", None)


def squared_error(one, other):
    return layers.Function("SquaredError", [one, other])


def learning_parameter_schedule(rate):
    return rate


def sgd(parameters, schedule):
    return schedule


class Trainer:
    def __init__(self, model, criteria, learners):
        self.model = model
        self.previous_minibatch_loss_average = 0.0

    def train_minibatch(self, feeds):
        cntk_py.count(self.model.uid)
        self.previous_minibatch_loss_average = 0.25
        return True
