from .python.debug.lib import check_numerics_callback


def enable_check_numerics():
    check_numerics_callback._state.check_numerics_callback = True
