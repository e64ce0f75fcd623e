"""What dlprof knows about a backend: one frozen spec, never an import of the framework.

A backend is an environment. What is true of the engine in it, wherever that runs, says the engine's own spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

LOCKS = Path(__file__).parent / "locks"
"""Folder of the locked requirement files, one per managed backend."""


COMPAT = Path(__file__).parent / "compat"
"""Folder of the files that are copied into managed environments."""


class BackendSpec(Struct, frozen=True):
    """A backend of Keras, or a framework without Keras, and the managed environment that dlprof makes for it."""

    name: str
    """Name on the command line: `--backend NAME`."""
    title: str
    """One line for `dlprof backends list`, for example `Keras 3.15 on TensorFlow 2.21`."""
    lock: Path
    """Requirements file with exact versions and hashes."""
    python: str
    """PEP 440 specifier of the interpreters the lock is valid for, for example `>=3.11,<3.13`."""
    keras_backend: str
    """Value of KERAS_BACKEND in the traced process; empty: there is no Keras."""
    engine: str = ""
    """Name of the engine (`dlprof.engines`) that Keras runs on, or that is used alone; a plug-in's is fine, too."""
    lighter_lock: Path | None = None
    """Another lock, without what only GPUs need, for where its engine can be had as `lighter_wheel`."""
    lighter_wheel: str = ""
    """Beginning of the name of a wheel in one of pip's find-links folders, for example `torch-2.13.0+cpu-`."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """More environment variables of the traced process; the user's own values win."""
    site_files: tuple[Path, ...] = ()
    """Files copied into the environment's site-packages (compatibility shims and their .pth)."""
    source_packages: tuple[str, ...] = ()
    """Packages that only come as source; all others must be wheels, so that nothing is compiled by surprise."""
    build_lock: Path | None = None
    """Lock of what source packages are built with; None: each asks the index for what it likes, without a hash."""
    trains: bool = True
    """Whether `fit` works; else only inference does."""
    environment_of: str = ""
    """Backend whose environment this one runs in; empty: it has its own."""
    on_demand: bool = False
    """Whether it is so large that nothing makes it unless it is asked for by name."""
    finish: Path | None = None
    """Script that the environment's own interpreter runs once, after installation, to make it whole."""
    how_to_get_python: str = ""
    """Command that installs such an interpreter, where uv does not have it."""
