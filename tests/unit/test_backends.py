"""Backends: their specs, plug-ins, locks, and the shim for MXNet."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from dlprof.backends import registry
from dlprof.backends.base import COMPAT, LOCKS, BackendSpec
from dlprof.errors import UsageError

OTHER = BackendSpec("other", "Other", LOCKS / "mxnet.txt", ">=3.11", "other")

NAMES = (
    "cntk, jax, mxnet, native-caffe2, native-chainer, native-cntk, native-gluon, native-jax, native-lasagne, "
    "native-tensorflow, native-tensorflow1, native-theano, native-torch, openvino, tensorflow, tensorflow1, theano, torch"
)


@dataclass
class Entry:
    """An entry point that gives `value`, or raises it."""

    name: str
    value: object

    def load(self) -> object:
        """Give or raise."""
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Entry]]:
    """The installed plug-ins: a list to fill."""
    found: list[Entry] = []
    monkeypatch.setattr(registry, "entry_points", lambda group: found if group == "dlprof.backends" else [])
    registry._plugged_in.cache_clear()
    yield found
    registry._plugged_in.cache_clear()


def test_a_plug_in_is_a_backend_like_the_others(entries: list[Entry]) -> None:
    """By the name in its spec."""
    entries.append(Entry("x", OTHER))

    assert registry.get("other") is OTHER


def test_a_plug_in_cannot_take_the_name_of_a_backend_of_dlprof(entries: list[Entry]) -> None:
    """What `--backend mxnet` means does not depend on what else is installed."""
    entries.append(Entry("x", BackendSpec("mxnet", "Mine", LOCKS / "mxnet.txt", ">=3.11", "mxnet")))

    assert registry.get("mxnet").title != "Mine"


@pytest.mark.parametrize(
    ("value", "warning"),
    [
        (ImportError("no module x"), "dlprof: warning: backend plug-in bad cannot be loaded: no module x\n"),
        ("a text", "dlprof: warning: backend plug-in bad gives no BackendSpec\n"),
    ],
)
def test_a_broken_plug_in_is_passed_over_with_one_warning(
    entries: list[Entry], capsys: pytest.CaptureFixture[str], value: object, warning: str
) -> None:
    """The others go on working."""
    entries += [Entry("bad", value), Entry("good", OTHER)]

    names = set(registry.all_specs()) & set(registry.all_specs())

    assert names == {*NAMES.split(", "), "other"}
    assert capsys.readouterr().err == warning


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (
            "tensorflwo",
            "tensorflow (known backends: " + NAMES + ")",
        ),
        ("zz", "known backends: " + NAMES),
    ],
)
def test_an_unknown_backend_is_answered_with_those_there_are(entries: list[Entry], name: str, hint: str) -> None:
    """And with the nearest, where one is near."""
    with pytest.raises(UsageError, match=f"There is no backend {name}") as caught:
        registry.get(name)

    assert caught.value.hint == hint


@pytest.mark.parametrize("lock", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_every_package_of_a_lock_has_an_exact_version_and_hashes(lock: Path) -> None:
    """And no line names an index."""
    text = lock.read_text()
    blocks = [block for block in re.split(r"\n(?=\S)", text.strip()) if not block.startswith("#")]

    assert all(re.match(r"[\w.-]+==[\w.+!-]+", block) and "--hash=sha256:" in block for block in blocks)
    assert "http" not in text
    assert "index" not in text


@pytest.mark.parametrize("lock", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_every_pin_of_an_input_is_in_its_lock(lock: Path) -> None:
    """The lock was made again when its input was changed."""
    pins = re.findall(r"^([\w.-]+==[\w.]+)", lock.with_suffix(".in").read_text(), re.MULTILINE)

    assert pins
    assert [pin for pin in pins if pin.replace("_", "-") not in lock.read_text().replace("_", "-")] == []


@pytest.mark.parametrize("name", ["jax", "mxnet", "openvino", "tensorflow", "theano", "torch"])
def test_the_files_of_a_backend_are_there(name: str) -> None:
    """And its interpreters are those that the locks are made for."""
    spec = registry.get(name)

    assert [file for file in (spec.lock, *spec.site_files) if not file.is_file()] == []
    assert spec.name == spec.keras_backend == spec.module == name
    assert {v: SpecifierSet(spec.python).contains(v) for v in ("3.10.9", "3.11.0", "3.12.9", "3.13.0")} == {
        "3.10.9": False, "3.11.0": True, "3.12.9": name != "theano", "3.13.0": False,
    }  # fmt: skip


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
