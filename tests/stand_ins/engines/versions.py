"""Makes stand-ins the engines of this process, for as long as a test needs them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
NAMES = tuple(sorted(path.name for path in HERE.iterdir() if path.is_dir() and not path.name.startswith("_")))
"""Engines that have a stand-in: a folder with its packages."""


@contextmanager
def importable(name: str) -> Iterator[None]:
    """`import` of that engine's module gives the stand-in; one that is installed is not touched."""
    packages = {path.stem for path in (HERE / name).iterdir()}

    def is_its(module: str) -> bool:
        return module.split(".", maxsplit=1)[0] in packages

    hidden = {module: sys.modules.pop(module) for module in list(sys.modules) if is_its(module)}
    sys.path.insert(0, str(HERE / name))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(HERE / name))
        for module in [module for module in sys.modules if is_its(module)]:
            del sys.modules[module]
        sys.modules.update(hidden)
