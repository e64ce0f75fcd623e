"""Functions of Python that graphs call, by their tokens."""


class FuncRegistry:
    def __init__(self):
        self._functions = {}

    def insert(self, function):
        token = "pyfunc_%d" % len(self._functions)
        self._functions[token] = function
        return token

    def __call__(self, token, device, args):
        return self._functions[token](*args)


_py_funcs = FuncRegistry()
