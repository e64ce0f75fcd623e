def compiled(function, earlier):
    return _compile(function.__code__, function, earlier)


def _compile(code, function, earlier):
    if earlier:
        get_and_maybe_log_recompilation_reasons(earlier, None)
    return function


def get_and_maybe_log_recompilation_reasons(cache, frame):
    return ["tensor 'value' size mismatch at index 0" for _ in cache]
