from .python.data.ops.dataset_ops import DatasetV2 as Dataset


class Options:
    def __init__(self):
        self.autotune = type("Autotune", (), {"enabled": True})()
