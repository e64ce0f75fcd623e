"""AutoGraph reads the source of what `tf.function` is given: of a method that dlprof stands in for, its own.

`tf.function(model)` is given `Layer.__call__`. Of our function in its place there is no source to be read: AutoGraph
would warn of that, and run it as it is.
"""

import types

_CONVERTS = "_convert_actual"


def see_through(probe, api):
    """Have AutoGraph convert the methods themselves.

    Args:
        probe: `Probe`.
        api: Its module; None: there is none.
    """
    if not hasattr(api, _CONVERTS):
        return
    ours = vars(probe.wrappers)
    hook = probe.guard(lambda args, keywords: ((bare(args[0], ours),) + args[1:], keywords), goes_on=True)
    probe.replace(api, _CONVERTS, lambda f: probe.wrappers.with_arguments(f, hook))


def bare(function, ours):
    """A function or a bound method without the wrappers around it whose globals are `ours`.

    Not told by their marks: what others put around a wrapper has these, too.
    """
    if isinstance(function, types.MethodType):
        inner = bare(function.__func__, ours)
        return function if inner is function.__func__ else types.MethodType(inner, function.__self__)
    while getattr(function, "__globals__", None) is ours and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function
