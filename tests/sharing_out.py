"""Which tests pytest-xdist gives to one worker, so that what they share is made once: `--dist loadgroup`.

Workers collect tests, and know their fixtures; the controller shares them out, and knows their names. So each worker
leaves a file with the groups (pytest-xdist has them in the names, which pytest 9.2 no longer lets it change).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

_FOLDER = "groups_folder"


class Scheduling(LoadGroupScheduling):  # type: ignore[misc]
    """Shares out groups, the largest first, then single tests."""

    folder = Path()

    def _split_scope(self, nodeid: str) -> str:
        return self._groups().get(nodeid, nodeid)

    def _groups(self) -> Mapping[str, str]:
        if not hasattr(self, "_read"):
            self._read = json.loads(next(self.folder.glob("*.json")).read_text())
        return self._read  # type: ignore[no-any-return]


class OfController:
    """Tells workers where to leave the groups, and reads them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def pytest_configure_node(self, node: Any) -> None:
        """A worker is about to start."""
        node.workerinput[_FOLDER] = str(self.folder)

    def pytest_unconfigure(self) -> None:
        """All is over."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """The one above, where it is wanted."""
        if config.getvalue("dist") != "loadgroup":
            return None
        made = Scheduling(config, log)
        made.folder = self.folder
        return made


def leave(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Of a worker: write the groups of all tests."""
    told = getattr(config, "workerinput", {})
    if _FOLDER in told:
        groups = {
            item.nodeid: group for item in items if isinstance(item, pytest.Function) and (group := group_of(item))
        }
        (Path(told[_FOLDER]) / f"{told['workerid']}.json").write_text(json.dumps(groups))


def group_of(item: pytest.Function) -> str:
    """What a test shares with others: a fixture of the whole session, of the module or of the class; "": nothing.

    The widest of these decides, and its parameter.
    """
    made = {name: found[-1] for name, found in item._fixtureinfo.name2fixturedefs.items() if found}
    own = {
        name: one
        for name, one in made.items()
        if one.baseid.startswith("tests/") and (one.scope != "session" or ".py" in one.baseid)
    }
    params = item.callspec.params if hasattr(item, "callspec") else {}
    for scope, node in (("session", pytest.Module), ("module", pytest.Module), ("class", pytest.Class)):
        names = sorted(name for name, one in own.items() if one.scope == scope)
        place = item.getparent(node)
        if names and place is not None:
            of = [f"{name}={params[name]}" for name in names if name in params]
            return " ".join([place.nodeid, *of])
    return ""
