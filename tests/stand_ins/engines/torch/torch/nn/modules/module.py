before, after = [], []


class _Handle:
    def __init__(self, hooks, hook):
        self._hooks, self._hook = hooks, hook
        hooks.append(hook)

    def remove(self):
        self._hooks.remove(self._hook)


def register_module_forward_pre_hook(hook):
    return _Handle(before, hook)


def register_module_forward_hook(hook):
    return _Handle(after, hook)
