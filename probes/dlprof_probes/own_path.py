"""Has a Python of dlprof's own look for modules where Python and dlprof are installed, and elsewhere afterwards.

`python -m` puts the current folder first, and PYTHONPATH comes before all that is installed: a `typing.py` or a
`psutil.py` that lies there is a program's, and none that dlprof may load. What is loaded before this is loaded anyhow:
nothing but `os` and `sys` is needed here.
"""

from __future__ import annotations

import os
import sys

_OURS = ("dlprof", "dlprof_probes")
_LIBRARY = os.path.dirname(os.__file__)  # noqa: PTH120  (pathlib is not loaded yet)


def settle(first: bool = True) -> None:
    """Set the order: Python's library, folders of a user that hold dlprof, what is installed, other folders of a user.

    Args:
        first: Whether the first folder is the current one, which `python -m` put there.
    """
    named = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    users = {os.path.abspath(part) for part in named}  # noqa: PTH100
    if first and not sys.flags.safe_path:
        users.add(_whole(sys.path[0]))
    sys.path.sort(key=lambda entry: _place(entry, users))


def _place(entry: str, users: set[str]) -> int:
    whole = _whole(entry)
    if _is_pythons(whole):
        return 0
    if whole not in users:
        return 2
    return 1 if any(os.path.isdir(os.path.join(whole, name)) for name in _OURS) else 3  # noqa: PTH112, PTH118


def _whole(entry: str) -> str:
    try:
        return os.path.abspath(entry)  # noqa: PTH100
    except OSError:  # the current folder was removed
        return entry


def _is_pythons(whole: str) -> bool:
    """Whether it holds the standard library: its folder, that of its C modules, or its archive."""
    parent, name = os.path.split(whole)
    archive = f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
    home = os.path.dirname(_LIBRARY)  # noqa: PTH120
    return whole == _LIBRARY or (parent, name) in ((_LIBRARY, "lib-dynload"), (home, archive))
