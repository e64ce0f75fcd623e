from . import functions, hooks


class Linear:
    name = None

    def __init__(self, inputs, outputs, initialW=None):
        self.weights = initialW

    def __call__(self, values):
        with hooks.around(hooks.link_hooks, "forward_preprocess", "forward_postprocess", hooks.Call(self)):
            return functions.Function("LinearFunction").forward(values.dot(self.weights))

    def cleargrads(self):
        pass
