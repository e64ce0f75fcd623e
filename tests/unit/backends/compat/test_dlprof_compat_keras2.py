"""The shim for old libraries on a new Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dlprof.backends.base import COMPAT


def shimmed(code: str, *folders: Path, flags: tuple[str, ...] = ()) -> str:
    """What `code` prints on this interpreter after the shim was imported as the first thing; it may warn of nothing."""
    start = f"import sys; sys.path[:0] = {[str(folder) for folder in (COMPAT, *folders)]}\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", *flags, "-c", f"{start}{code}"], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_the_shim_imports_nothing_itself() -> None:
    """It runs at every start of every Python of the environment."""
    code = "before = set(sys.modules); import dlprof_compat_keras2; print(sorted(set(sys.modules) - before))"

    assert shimmed(code) == "['dlprof_compat_keras2']"


@pytest.mark.parametrize("early", ["", "import collections, inspect\n"])
def test_names_that_python_removed_are_back(early: str) -> None:
    """Whether the modules were imported before the shim or after it, and without a warning."""
    code = (
        f"{early}import dlprof_compat_keras2\n"
        "import collections, inspect\n"
        "def f(a, b=1, *c, **d): pass\n"
        "print(isinstance([], collections.Iterable), collections.MutableMapping.__name__, inspect.getargspec(f))"
    )

    assert shimmed(code, flags=("-W", "error")) == (
        "True MutableMapping ArgSpec(args=['a', 'b'], varargs='c', keywords='d', defaults=(1,))"
    )


def test_names_that_numpy_removed_are_back_and_others_stay(tmp_path: Path) -> None:
    """NumPy's own `bool` of later versions is left alone."""
    (tmp_path / "numpy.py").write_text("bool = 'its own'\n")

    code = "import dlprof_compat_keras2, numpy; print(numpy.bool, numpy.int is int, numpy.object is object)"

    assert shimmed(code, tmp_path) == "its own True True"


def test_h5py_gives_what_keras_2_can_decode(tmp_path: Path) -> None:
    """Single texts; numbers stay as they are."""
    folder = tmp_path / "h5py" / "_hl"
    folder.mkdir(parents=True)
    (tmp_path / "h5py" / "__init__.py").touch()
    (folder / "__init__.py").touch()
    (folder / "attrs.py").write_text(
        "class AttributeManager(dict):\n    def __getitem__(self, name):\n        return dict.__getitem__(self, name)\n"
    )
    code = (
        "import dlprof_compat_keras2\n"
        "from h5py._hl.attrs import AttributeManager\n"
        "m = AttributeManager(version='2.2.4', n=3)\n"
        "print(m['version'].decode('utf8'), m['version'] == '2.2.4', m['n'])"
    )

    assert shimmed(code, tmp_path) == "2.2.4 True 3"


def test_a_module_that_is_not_there_is_missing_as_without_the_shim() -> None:
    """The same error, naming the module."""
    code = "import dlprof_compat_keras2\ntry:\n    import numpy\nexcept ModuleNotFoundError as e:\n    print(e)"

    assert shimmed(code) == "No module named 'numpy'"


def test_import_hooks_of_others_are_asked_too(tmp_path: Path) -> None:
    """Such as those of editable installations."""
    (tmp_path / "hidden.py").write_text("where = 'hidden'\n")
    code = (
        "import dlprof_compat_keras2, importlib.util\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == 'numpy': return importlib.util.spec_from_file_location(name, {str(tmp_path)!r} + '/hidden.py')\n"
        "sys.meta_path.append(Finder())\n"
        "import numpy; print(numpy.where, numpy.bool is bool)"
    )

    assert shimmed(code) == "hidden True"
