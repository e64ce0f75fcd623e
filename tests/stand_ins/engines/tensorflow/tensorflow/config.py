from .python.framework import config as framework

state = {"eager": False, "threads": 0, "gpus": []}


def run_functions_eagerly(eagerly):
    state["eager"] = eagerly


def functions_run_eagerly():
    return state["eager"]


def list_logical_devices(kind):
    return state["gpus"]


class threading:
    @staticmethod
    def get_intra_op_parallelism_threads():
        return state["threads"]

    @staticmethod
    def set_intra_op_parallelism_threads(count):
        state["threads"] = count


class experimental:
    @staticmethod
    def enable_op_determinism():
        framework.state["deterministic"] = True
