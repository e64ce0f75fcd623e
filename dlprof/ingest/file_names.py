"""How files are named in the tables: short, and the same on every machine."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_LIBRARY = re.compile(r".*[/\\](?:(?:site|dist)-packages|tools[/\\]\w+-cp\d+-[^/\\]+)[/\\]")
"""Where packages are installed, and where dlprof has those that a probe needs (`launch/tool_folder.py`)."""
_STANDARD = re.compile(r".*[/\\]lib[/\\]python3\.\d+[/\\]")


@dataclass
class FileNames:
    """Turns absolute file names of one run into those of its tables.

    Files below the script's folder are named from there (`mlp.py`, `nets/resnet.py`), installed
    packages from their package (`keras/src/models/model.py`), the standard library as `<python>/…`.

    Attributes:
        script_folder: Absolute folder of the script.
        cells: What IPython calls the code of a cell, to what the tables call it.
        originals: Short name to absolute name, of all names given out so far.
    """

    script_folder: str
    cells: Mapping[str, str] = field(default_factory=dict)
    originals: dict[str, str] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict)

    def short(self, path: str) -> str:
        """The table's name for the file at `path`."""
        short = self._known.get(path)
        if short is None:
            short = self._known[path] = _as_text(self._shorten(path))
            self.originals.setdefault(short, path)
        return short

    def is_users(self, short: str) -> bool:
        """Whether a file is the user's own code: no installed package, not Python's own, not made up at run time."""
        path = self.originals.get(short, short)
        if path in self.cells:
            return True
        return not (path.startswith("<") or _LIBRARY.match(path) or _STANDARD.match(path))

    def _shorten(self, path: str) -> str:
        if path.startswith("<") or path in self.cells:
            return self.cells.get(path, path)
        for pattern, prefix in ((_LIBRARY, ""), (_STANDARD, "<python>/")):
            match = pattern.match(path)
            if match:
                return prefix + path[match.end() :].replace(os.sep, "/")
        if self.script_folder and path.startswith(self.script_folder + os.sep):
            return path[len(self.script_folder) + 1 :].replace(os.sep, "/")
        home = str(Path.home())
        return "~" + path[len(home) :] if path.startswith(home + os.sep) else path


def _as_text(name: str) -> str:
    """A name that tables take: bytes of a file's name that are no UTF-8 are question marks, as in the stream."""
    return name.encode("utf-8", "replace").decode("utf-8")
