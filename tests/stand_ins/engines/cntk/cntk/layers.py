import itertools

_numbers = itertools.count()


class Variable:
    is_output = False

    def __init__(self, kind, owner):
        self.uid = "%s%d" % (kind, next(_numbers))
        self.owner = owner


class Output(Variable):
    is_output = True

    def __init__(self, owner):
        super().__init__("Output", owner)


class Function:
    is_composite = is_block = False
    parameters = ()

    def __init__(self, kind, inputs, name=""):
        self.uid = "%s%d" % (kind, next(_numbers))
        self.name = name
        self.inputs = [Output(one) if isinstance(one, Function) else one for one in inputs]

    @property
    def root_function(self):
        return self


class Composite(Function):
    is_composite = True

    def __init__(self, root):
        super().__init__("Composite", [])
        self._root = root

    @property
    def root_function(self):
        return self._root


class Block(Function):
    is_block = True

    def __init__(self, inside, inputs, name=""):
        super().__init__("Block", inputs, name)
        self.block_root = inside


def Dense(size, init=None, init_bias=None):
    def make(value):
        return Function("Times", [value], "dense")

    return make
