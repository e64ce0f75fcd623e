import contextlib

function_hooks, link_hooks = [], []


class _Hook:
    name = "hook"
    hooks = None

    def __enter__(self):
        if any(hook.name == self.name for hook in self.hooks):
            raise KeyError("hook %s already exists" % self.name)
        self.hooks.append(self)
        return self

    def __exit__(self, *_):
        self.hooks.remove(self)


class FunctionHook(_Hook):
    hooks = function_hooks


class LinkHook(_Hook):
    hooks = link_hooks


class Call:
    def __init__(self, link):
        self.link = link


@contextlib.contextmanager
def around(hooks, begin, end, *args):
    for hook in hooks:
        getattr(hook, begin)(*args)
    yield
    for hook in hooks:
        getattr(hook, end)(*args)
