class _RunOptions:
    trace_level = 0


class CallableOptions:
    def __init__(self):
        self.fetch, self.feed, self.target, self.tensor_connection = [], [], [], []
        self.run_options = _RunOptions()

    def CopyFrom(self, other):
        self.fetch, self.feed, self.target = list(other.fetch), list(other.feed), list(other.target)
