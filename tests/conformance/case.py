"""One case: a script, what it runs on, the world that it is born into, and what is done to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.conformance.acts import Act
from tests.conformance.world import World


@dataclass(frozen=True)
class Case:
    """A script and a fault.

    Attributes:
        name: As in `endings/exit-300`.
        script: Its file in `scripts`.
        arguments: Those of the script.
        world: How it is started.
        acts: What is done to it, one for each time that it says that it is ready.
        python: A version as 3.8; empty: the interpreter that dlprof runs in.
        backend: A managed environment instead.
        flags: More of `dlprof trace`; they change nothing for the script.
        beside: Other files of `scripts` that lie beside it, and their names there.
        module: It is run as `-m MODULE`, not by its file.
        called: The script's name in its folder; empty: that in `scripts`.
        packed: What Python is given instead of the script, made of it: a folder with a `__main__.py`, an archive (`.zip`), a
            compiled module (`.pyc`).
        as_module: dlprof is run as `python -m dlprof`.
        reported: dlprof prints its report, too.
    """

    name: str
    script: str
    arguments: tuple[str, ...] = ()
    world: World = field(default_factory=World)
    acts: tuple[Act, ...] = ()
    python: str = ""
    backend: str = ""
    flags: tuple[str, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    module: str = ""
    called: str = ""
    packed: str = ""
    as_module: bool = False
    reported: bool = False
