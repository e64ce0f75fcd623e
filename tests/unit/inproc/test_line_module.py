"""line_profiler, wherever it lies."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import line_profiler
from dlprof_probes.inproc.line_module import LineModule

REAL = Path(line_profiler.__file__).parent


def in_fresh_python(code: str, folder: Path | None = None) -> Any:
    """What `code` prints as JSON, in a process that has not loaded line_profiler; `made` is a `LineModule`."""
    before = "import json, sys\nfrom dlprof_probes.inproc.line_module import LineModule\n"
    made = f"made = LineModule({str(folder) if folder else None!r})\n"
    done = subprocess.run([sys.executable, "-c", before + made + code], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_without_an_extension_the_package_is_taken_and_nothing_else_from_its_folder(package: Path) -> None:
    """The program must not find there what it does not have itself."""
    path = list(sys.path)

    made = LineModule(str(package)).core()

    assert Path(sys.modules[made.__module__].__file__ or "") == package / "line_profiler.py"
    assert sys.path == path
    assert "helper_of_profiler" not in sys.modules


def test_the_extension_alone_loads_nothing_of_its_package() -> None:
    """No argparse, no multiprocessing: that is what takes the time."""
    loaded = in_fresh_python(
        "made.core()\n"
        "print(json.dumps([n in sys.modules for n in ('line_profiler', 'line_profiler.cli_utils', 'argparse')]))"
    )

    assert loaded == [False, False, False]


def test_the_package_after_its_extension_is_whole() -> None:
    """A program that asks for it gets the class of the package, which is built on that of the extension."""
    both = in_fresh_python(
        "core = made.core().__base__\n"
        "whole = made.whole()\n"
        "import line_profiler\n"
        "print(json.dumps([issubclass(whole, core), whole is not core, whole is line_profiler.LineProfiler]))"
    )

    assert both == [True, True, True]


def test_a_program_that_imports_the_package_later_can_use_it() -> None:
    """It shares the extension, and counts by itself."""
    hits = in_fresh_python(
        "made.core()\n"
        "import line_profiler\n"
        "profiler = line_profiler.LineProfiler()\n"
        "def f():\n    return 1\n"
        "profiler.add_function(f)\nprofiler.enable()\nf()\nprofiler.disable()\n"
        "print(json.dumps([line[1] for lines in profiler.get_stats().timings.values() for line in lines]))"
    )

    assert hits == [1]


def test_of_an_extension_from_a_folder_nothing_stays_to_be_found(tmp_path: Path) -> None:
    """The program may have another line_profiler, which must not meet ours."""
    shutil.copytree(REAL, tmp_path / "tools" / "line_profiler")

    left = in_fresh_python(
        "core = made.core().__base__\n"
        "left = [name for name in sys.modules if name.startswith('line_profiler')]\n"
        "whole = made.whole()\n"
        "print(json.dumps([left, core.__module__, issubclass(whole, core), sys.modules['line_profiler'].__file__]))",
        tmp_path / "tools",
    )

    file = str(tmp_path / "tools" / "line_profiler" / "__init__.py")
    assert left == [[], "line_profiler._line_profiler", True, file]
