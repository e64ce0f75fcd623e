"""Logs as numbers of Python."""


def pythonify_logs(logs):
    return dict((name, float(value) if not isinstance(value, list) else value) for name, value in (logs or {}).items())
