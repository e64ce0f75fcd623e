class _Debug:
    arg_names = ("value",)


class _Jaxpr:
    """No operations; a variable for each constant."""

    eqns = ()

    def __init__(self, consts):
        self.constvars = [object() for _ in consts]


class _Closed:
    """What a function is traced to: arrays that it closes over are its constants."""

    def __init__(self, function):
        cells = getattr(function, "__closure__", None) or ()
        self.consts = [cell.cell_contents for cell in cells if hasattr(cell.cell_contents, "nbytes")]
        self.jaxpr = _Jaxpr(self.consts)


class _Params:
    def __init__(self, function):
        self.params = {"jaxpr": _Closed(function)}


def trace(function, kind):
    return _trace_for_jit(function, None, None, _Debug(), (kind,))


def _trace_for_jit(function, tree, options, debug, types):
    return _Params(function)
