"""Loads modules whose names files of its author's bear; a profile of it would be read by others."""

import importlib

for name in ("typing", "re", "enum", "types", "psutil", "numpy", "dataclasses", "pathlib", "msgspec", "subprocess", "json"):
    module = importlib.import_module(name)
    print(name, getattr(module, "WHO", "Python's"), module.__spec__.origin)
