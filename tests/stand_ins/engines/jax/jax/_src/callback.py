"""Functions of Python that compiled ones call."""


def emit_python_callback(ctx, callback, token, operands):
    return lambda: callback(*operands)
