"""The import rule, and the Python 3.6 floor of what runs in the traced process."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.unit import sources

ROOT = sources.ROOT
INPROC = [
    *sorted((ROOT / "probes" / "dlprof_probes" / "inproc").rglob("*.py")),
    ROOT / "probes" / "dlprof_probes" / "wire.py",
    ROOT / "probes" / "dlprof_probes" / "__init__.py",
    ROOT / "dlprof" / "launch" / "inspect_interpreter.py",
]
PACKAGES = sources.PACKAGES
EVERY_ROOM = "every room of dlprof"


def allowed() -> dict[str, set[str]]:
    """The table of docs/architecture.md: room to the rooms that it may import."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("| room | what it does | may import |\n| --- | --- | --- |\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    rooms = {whole_name(room.strip("`")): cell for room, _, cell in rows}
    every = {room for room in rooms if room.startswith("dlprof.")}
    return {
        room: {whole_name(name) for name in re.findall(r"`([^`]+)`", cell)} | (every if EVERY_ROOM in cell else set())
        for room, cell in rooms.items()
    }


def whole_name(room: str) -> str:
    """A room of dlprof without its package, as the table has it."""
    return room if room.startswith("dlprof_probes.") else f"dlprof.{room}"


ALLOWED = allowed()


def modules() -> dict[str, Path]:
    """All modules of dlprof and its probes, but for files that are copied into the environments of backends."""
    return {
        ".".join((package, *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__"): path
        for package, root in PACKAGES.items()
        for path in sorted(root.rglob("*.py"))
        if path.parent.name != "compat"
    }


MODULES = modules()


@cache
def imports(path: Path) -> frozenset[str]:
    """Modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in sources.statements(sources.parsed(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return frozenset(found)


def room_of(module: str) -> str:
    """The room that a module is in: the package around it, or itself where that is the outermost one."""
    is_package = MODULES[module].name == "__init__.py"
    parent = module if is_package else module.rpartition(".")[0]
    return module if parent in PACKAGES else parent


ENTRIES = {"dlprof", "dlprof.__main__", "dlprof_probes"}
"""Where a user comes in: they lead into any room."""


def test_every_room_has_a_row_in_the_table() -> None:
    """And every row is of a room."""
    assert {room_of(module) for module in MODULES} - ENTRIES == set(ALLOWED)


@pytest.mark.slow
def test_a_module_imports_only_what_its_room_may() -> None:
    """The table of docs/architecture.md says what; what it does not name is forbidden."""
    forbidden = {}
    for module, path in MODULES.items():
        own = room_of(module)
        if own not in ENTRIES:
            others = {room_of(name) for name in imports(path) if name in MODULES} - {own} - ENTRIES
            forbidden[module] = sorted(others - ALLOWED[own])

    assert {module: rooms for module, rooms in forbidden.items() if rooms} == {}
    assert len(forbidden) > 500


def test_a_room_may_not_import_what_its_row_does_not_name() -> None:
    """The rule is one: analysis may read neither raw artifacts nor start processes, nor the stages report."""
    assert not ALLOWED["dlprof.analysis"] & {"dlprof.ingest.own", "dlprof.launch", "dlprof.report", "dlprof.pipeline"}
    assert not ALLOWED["dlprof.ingest.formats"] & {"dlprof.analysis", "dlprof.launch", "dlprof.store"}
    assert not ALLOWED["dlprof.launch"] & {"dlprof.analysis", "dlprof.ingest.own"}


@pytest.mark.slow
def test_no_row_allows_what_nothing_imports() -> None:
    """A permission that is not used is a hole in the rule."""
    used = {
        (room_of(module), room_of(name))
        for module, path in MODULES.items()
        for name in imports(path)
        if name in MODULES
    }
    unused = {(room, other) for room, others in ALLOWED.items() for other in others if (room, other) not in used}

    assert {pair for pair in unused if pair[0] != "dlprof.cli"} == set()


def importing(root: Path, wanted: Callable[[str], bool]) -> list[str]:
    """Files below a folder that import a module of which something holds."""
    files = [path for path in sorted(root.rglob("*.py")) if any(wanted(name) for name in imports(path))]
    return [str(path.relative_to(ROOT)) for path in files]


def test_dlprof_never_imports_what_runs_in_the_traced_process() -> None:
    """`inproc` is copied, not imported, but where a notebook traces itself."""
    found = importing(ROOT / "dlprof", lambda name: name.startswith("dlprof_probes.inproc"))

    assert found == ["dlprof/launch/traced_cell.py"]


def test_the_wire_is_known_to_readers_and_to_the_live_view() -> None:
    """To nobody else; the vocabulary has its words from it."""
    found = importing(ROOT / "dlprof", lambda name: name == "dlprof_probes.wire")

    others = {path for path in found if not path.startswith("dlprof/ingest/own/")}
    assert others == {"dlprof/live/tail.py", "dlprof/schema/vocabulary.py"}


def test_probes_never_import_dlprof() -> None:
    """The probes stand alone."""
    assert importing(ROOT / "probes", lambda name: name == "dlprof" or name.startswith("dlprof.")) == []


def test_the_keeper_uses_the_standard_library_only() -> None:
    """It is run by its path, isolated and without site packages."""
    for name in imports(ROOT / "dlprof" / "live" / "keeper.py"):
        assert name.split(".")[0] in sys.stdlib_module_names | {"__future__"}, name


def test_the_in_process_probe_uses_the_standard_library_only() -> None:
    """line_profiler is the one exception; it is asked for inside a try."""
    known = {*sys.stdlib_module_names, "dlprof_probes", "line_profiler"}
    others = {path.name: [name for name in imports(path) if name.split(".")[0] not in known] for path in INPROC}

    assert {name: found for name, found in others.items() if found} == {}


def test_the_in_process_probe_is_python_36_syntax() -> None:
    """No walrus, no positional-only parameters, no match."""
    for path in INPROC:
        ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 6))


def test_the_in_process_probe_needs_no_newer_python_than_36() -> None:
    """Vermin knows features of the library too; what is looked up with getattr or hasattr is allowed."""
    done = subprocess.run(
        [sys.executable, "-m", "vermin", "-t=3.6-", "--violations", "--no-tips", "--eval-annotations", *map(str, INPROC)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    allowed = ("perf_counter_ns", "register_at_fork", "orig_argv", "monitoring", "importlib.metadata")
    lines = [line for line in done.stdout.splitlines() if "require" in line and "3.6" not in line]

    assert not [line for line in lines if not any(word in line for word in allowed)], done.stdout


def old_pythons() -> list[str]:
    """Interpreters of the floor that are at hand."""
    found = [shutil.which(f"python3.{minor}") for minor in (6, 7)]
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    pyenv = sorted((root / "versions").glob("3.[67].*/bin/python"))
    return [*[path for path in found if path and "shims" not in path], *map(str, pyenv)]


@pytest.mark.parametrize("python", old_pythons() or [None])
def test_the_in_process_probe_runs_on_an_old_python(python: str | None, tmp_path: Path) -> None:
    """A script runs under the probe on the floor's own interpreter, and its stream is whole."""
    if python is None:
        pytest.skip("no Python 3.6 or 3.7 on this machine")
    (tmp_path / "script.py").write_text("import colorsys\nprint('ran')\n")
    (tmp_path / "status").write_bytes(b" " * 1024)
    (tmp_path / "config.json").write_text(
        '{"raw": "%s", "status": "%s", "script": "%s", "argv": ["script.py"], "lines": null}'
        % (tmp_path, tmp_path / "status", tmp_path / "script.py")
    )
    start = ROOT / "probes" / "dlprof_probes" / "inproc" / "entry"

    done = subprocess.run(
        [python, str(start), "config.json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr, done.returncode) == ("ran\n", "", 0)
    from dlprof.ingest.own import wire

    stream = wire.read(tmp_path / "inproc.wire")
    assert stream.complete
    assert [span.name for span in stream.spans.values() if span.kind == "import"] == ["colorsys"]


def test_no_backend_spec_imports_its_framework() -> None:
    """Loading every spec loads no framework."""
    code = "import sys; from dlprof.backends import registry; registry.all_specs(); print([m for m in ('keras', 'tensorflow', 'mxnet') if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
    assert importlib.util.find_spec("dlprof") is not None
