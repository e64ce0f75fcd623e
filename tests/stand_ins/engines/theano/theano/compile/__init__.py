from . import profiling


class _Node:
    op = "Elemwise{mul,no_inplace}"


class _Profile:
    message = "a function"

    def __init__(self):
        self.node = _Node()
        self.fct_callcount, self.fct_call_time = 0, 0.0
        self.apply_time, self.apply_callcount = {}, {}
        profiling._atexit_print_list.append(self)

    def called(self):
        self.fct_callcount += 1
        self.fct_call_time += 0.002
        self.apply_time[self.node] = self.apply_time.get(self.node, 0.0) + 0.001
        self.apply_callcount[self.node] = self.apply_callcount.get(self.node, 0) + 1


class Function:
    def __init__(self, expression, name, profile):
        self.name = name
        self._expression = expression
        self.profile = _Profile() if profile else None

    def __call__(self, value):
        if self.profile is not None:
            self.profile.called()
        return self._expression.compute(value)
