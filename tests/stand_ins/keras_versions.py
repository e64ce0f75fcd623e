"""Makes a stand-in the Keras of this process, for as long as a test needs it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
FOLDERS = {
    "2.2": HERE / "keras_2" / "keras_2_2",
    "2.3": HERE / "keras_2" / "keras_2_3",
    "3": HERE / "keras_3",
}


def _is_keras(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] == "keras"


@contextmanager
def importable(version: str) -> Iterator[None]:
    """`import keras` gives the stand-in of this version; none that may be installed is touched."""
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_keras(name)}
    sys.path.insert(1, str(FOLDERS[version]))  # the first one is the folder of the script
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(FOLDERS[version]))
        for name in [name for name in sys.modules if _is_keras(name)]:
            del sys.modules[name]
        sys.modules.update(hidden)


@contextmanager
def loaded(version: str) -> Iterator[ModuleType]:
    """The stand-in of this version, imported afresh."""
    with importable(version):
        yield importlib.import_module("keras")
