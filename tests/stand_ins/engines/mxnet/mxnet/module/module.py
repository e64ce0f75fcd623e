import os


class Executor:
    """A bound graph; it knows whether its operators run one by one."""

    def __init__(self, symbol):
        self._symbol = symbol
        self._ctx, self._grad_req = "cpu(0)", "null"
        self.arg_arrays, self.grad_arrays, self.aux_arrays = [], [], []
        self.bulk = os.environ.get("MXNET_EXEC_BULK_EXEC_TRAIN", "1") != "0"
        symbol.executors.append(self)


class _Group:
    def __init__(self, symbol):
        self.execs = [Executor(symbol)]


class Module:
    def __init__(self, symbol, data_names=("data",), label_names=("softmax_label",)):
        self.symbol = symbol
        self.for_training = False
        self._exec_group = None
        self._outputs = []

    def bind(self, data_shapes, label_shapes=None, for_training=True):
        self.for_training = for_training
        self._exec_group = _Group(self.symbol)

    def reshape(self, data_shapes, label_shapes=None):
        self._exec_group = _Group(self.symbol)

    def init_params(self):
        pass

    def init_optimizer(self):
        pass

    def forward(self, batch, is_train=None):
        from mxnet import profiler

        profiler.count(self._exec_group.execs[0].bulk)
        self._outputs = [self.symbol.compute(batch.data[0])]

    def get_outputs(self):
        return self._outputs
