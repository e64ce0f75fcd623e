"""Run by the interpreter that is asked about, not imported: prints facts about it as JSON (Python 3.6).

Its argument says what is asked for, as JSON: modules, and the names that the registry of packages may have for each.
A Python that is too old says so: it can still run the first lines.
"""

import os
import sys

# A `json.py` in a folder of PYTHONPATH is the program's, and not loaded here; what lies there counts as installed.
_PATH = list(sys.path)
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__))
_PYTHONS = _LIBRARY, os.path.join(_LIBRARY, "lib-dynload")
"""Python's own folders, which PYTHONPATH may name, too, where a program hands its whole path on."""
_GIVEN = {os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)}.difference(_PYTHONS)
sys.path[:] = [entry for entry in _PATH[1:] if os.path.abspath(entry) not in _GIVEN]

import json  # noqa: E402
import platform  # noqa: E402
import sysconfig  # noqa: E402

if sys.version_info < (3, 6):
    print("DLPROF" + json.dumps({
        "version": list(sys.version_info[:3]), "implementation": platform.python_implementation().lower(),
        "platform": sysconfig.get_platform(), "prefix": sys.prefix, "packages": {},
    }))  # fmt: skip
    sys.exit()

import importlib.util  # noqa: E402

try:
    from importlib import metadata
except ImportError:
    metadata = None  # type: ignore[assignment]

# The folder of this file must not answer for what is installed.
sys.path[:] = [entry for entry in _PATH if os.path.abspath(entry) != os.path.dirname(os.path.abspath(__file__))]


def can_be_imported(name):
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    # A folder without code: what is left of a package that was removed, or a folder that has the name by chance.
    return spec is not None and spec.loader is not None and spec.origin not in (None, "namespace")


def version(distributions):
    if metadata is None:
        return None
    for distribution in distributions:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            pass
    return None


def origins(names):
    specs = [importlib.util.find_spec(name) for name in names]
    return [spec.origin for spec in specs if spec is not None and spec.origin and os.path.isabs(spec.origin)]


asked = json.loads(sys.argv[1])
packages = dict((name, version(distributions)) for name, distributions in asked.items() if can_be_imported(name))
facts = {
    "executable": sys.executable,
    "version": list(sys.version_info[:3]),
    "implementation": sys.implementation.name,
    "platform": sysconfig.get_platform(),
    "machine": platform.machine(),
    "prefix": sys.prefix,
    "packages": packages,
    # What the answer hangs on.
    "watched": [entry for entry in sys.path if entry] + origins(packages),
}
print("DLPROF" + json.dumps(facts))
