"""The seal of a run shows to its user's dlprof that it made it."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from dlprof.launch import seal
from dlprof.schema.manifest import Manifest


def test_a_seal_is_known_again(data: Path) -> None:
    """The key is kept for the user alone."""
    made = Manifest(script_folder="/a")
    sealed = structs.replace(made, seal=seal.seal(made))

    assert seal.is_from_here(sealed)
    (key,) = data.iterdir()
    assert key.stat().st_mode & 0o777 == 0o600


def test_what_will_run_cannot_be_changed_under_a_seal(data: Path) -> None:
    """Nor is a run without one from here."""
    made = Manifest(script_folder="/a")
    sealed = structs.replace(made, seal=seal.seal(made))

    assert not seal.is_from_here(structs.replace(sealed, script_folder="/b"))
    assert not seal.is_from_here(made)


def test_a_key_that_others_can_read_is_none(data: Path) -> None:
    """They could make seals."""
    made = Manifest()
    sealed = structs.replace(made, seal=seal.seal(made))
    next(data.iterdir()).chmod(0o644)

    assert not seal.is_from_here(sealed)


def test_without_a_place_for_a_key_there_is_no_seal(data: Path) -> None:
    """The run goes on without."""
    data.write_text("a file")

    assert seal.seal(Manifest()) is None
