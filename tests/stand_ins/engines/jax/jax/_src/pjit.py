class _Debug:
    arg_names = ("value",)


def trace(function, kind):
    return _trace_for_jit(function, None, None, _Debug(), (kind,))


def _trace_for_jit(function, tree, options, debug, types):
    return types
