"""Fixtures for all tests."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import sharing_out

ROOT = Path(__file__).parent.parent
_IN_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 2 << 30
_FILES, _LONG_S = 25, 20
"""Files that are told at the end, and what each took at least."""
_NONE_QUICK = (ROOT / "tests" / "integration", ROOT / "tests" / "drill")
"""All tests there start real programs."""
# What a change broke fails in every run, and nothing else does: `--hypothesis-profile=explore` looks for more.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    """Have tests that share what is dear stay together.

    A shell that runs the tests in its background has them ignore Ctrl-C: programs that they start would, too.
    """
    gc.disable()  # until all tests are collected: there is nothing to collect in what is kept
    if config.option.markexpr == "quick" and _has_room(_IN_MEMORY):  # they make 100,000 small files
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_IN_MEMORY))
    if config.getoption("dist", "no") == "loadgroup" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(sharing_out.OfController(Path(tempfile.mkdtemp(prefix="dlprof-groups-"))))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """No file is read for quick tests where there are none."""
    return True if config.option.markexpr == "quick" and collection_path in _NONE_QUICK else None


def _has_room(folder: Path) -> bool:
    """Whether files of quick tests, some hundred megabytes, may lie there; a container may have very little."""
    return os.access(folder, os.W_OK | os.X_OK) and shutil.disk_usage(folder).free >= _ROOM_BYTES


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as `quick` what needs neither an engine nor the network nor much time: `pytest -m quick`.

    What is `measured` may fail once: other programs of the machine have a say in it.
    """
    again = config.pluginmanager.hasplugin("rerunfailures")
    for item in items:
        if not item.get_closest_marker("integration") and not item.get_closest_marker("slow"):
            if any(folder in item.path.parents for folder in _NONE_QUICK):
                raise pytest.UsageError(f"{item.nodeid} would not be found by `-m quick`: mark it, or move it")
            item.add_marker(pytest.mark.quick)
        if again and item.get_closest_marker("measured"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """A worker says which tests are to stay together, before it says that it has collected them."""
    gc.collect()
    gc.freeze()
    # After all else at the end: bindings of C++ take for leaks what is kept then, and print it.
    atexit.register(gc.unfreeze)
    gc.enable()
    sharing_out.leave(session.config, session.items)


def pytest_sessionfinish() -> None:
    """Garbage is looked for five times by pytest at the end: once will do, and then among little."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which files take longest, and why a test was run a second time: neither is to be read elsewhere."""
    _tell_longest(terminalreporter)
    again = terminalreporter.stats.get("rerun", [])
    if again:
        terminalreporter.section("measured a second time")
    for report in again:
        crash = getattr(report.longrepr, "reprcrash", None)
        terminalreporter.line(f"{report.nodeid}: {crash.message if crash else report.longreprtext}")


def _tell_longest(terminalreporter: pytest.TerminalReporter) -> None:
    """Files of tests by what all of theirs took together: single ones are told by `--durations`."""
    took: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                took[report.nodeid.partition("::")[0]] += report.duration
    longest = [
        (name, seconds)
        for name, seconds in sorted(took.items(), key=lambda one: -one[1])[:_FILES]
        if seconds >= _LONG_S
    ]
    if longest:
        terminalreporter.section(f"files of tests that take longest, of {sum(took.values()):.0f} s")
    for name, seconds in longest:
        terminalreporter.line(f"{seconds:6.0f} s  {name}")


@pytest.fixture(autouse=True, scope="session")
def keras_homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where no Keras has been yet: a keras.json of the developer's own, or of another test, chooses the backend."""
    homes = tmp_path_factory.getbasetemp() / "keras-homes"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERAS_HOME", str(homes / "shared"))  # for fixtures that live longer than a test
        yield homes


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch, keras_homes: Path) -> None:
    """No setting of the developer's own shell reaches a test."""
    for name in list(os.environ):
        if name.startswith(("DLPROF_", "KERAS_")) and name != "DLPROF_DATA":
            monkeypatch.delenv(name)
    # Shells, pytest-xdist and continuous integration set them, and reports heed them.
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KERAS_HOME", str(keras_homes / uuid.uuid4().hex))  # made by Keras, if it comes to that
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")


@pytest.fixture(autouse=True, scope="session")
def children_heed_signals() -> None:
    """Started in the background or under nohup, children would ignore these for good; a handler is not inherited."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: None)


@pytest.fixture
def scenarios() -> Path:
    """Folder of the scenarios."""
    return ROOT / "scenarios"
