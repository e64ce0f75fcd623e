from . import modules


class Module:
    def __init__(self):
        self._parts = {}

    def add_module(self, name, part):
        self._parts[name] = part

    def named_modules(self):
        yield "", self
        yield from self._parts.items()

    def __call__(self, value):
        for hook in list(modules.module.before):
            hook(self, (value,))
        result = self.forward(value)
        for hook in list(modules.module.after):
            hook(self, (value,), result)
        return result


class Sequential(Module):
    def forward(self, value):
        for part in self._parts.values():
            value = part(value)
        return value


class Weight:
    requires_grad = True


class Linear(Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = Weight()

    def parameters(self, recurse=True):
        return iter([self.weight])

    def forward(self, value):
        return value * 2
