from . import hooks


class Function:
    """A node of the graph; its backward pass calls a function, too."""

    def __init__(self, label, inputs=None):
        self.label = label
        self.inputs = inputs

    def forward(self, values):
        with hooks.around(hooks.function_hooks, "forward_preprocess", "forward_postprocess", self, values):
            return Variable(values, self)

    def backward(self):
        with hooks.around(hooks.function_hooks, "backward_preprocess", "backward_postprocess", self, None, None):
            Function("_Gradient").forward(None)


class Variable:
    def __init__(self, values, made_by):
        self.array = values
        self.made_by = made_by

    def backward(self):
        node = self.made_by
        while node is not None:
            node.backward()
            node = node.inputs


def sum(variable):
    return Function("Sum", variable.made_by).forward(variable.array.sum())
