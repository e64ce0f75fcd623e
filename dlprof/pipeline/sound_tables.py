"""Gives a stored run whose tables are as they were written, or made again from `raw/`; of lost ones it says why."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import MappingProxyType

from dlprof import rundir
from dlprof.errors import BadDataError, CannotCreateError, UsageError
from dlprof.pipeline import mended_tables, raw_artifacts
from dlprof.rundir import RunDir
from dlprof.schema.manifest import HealthEntry, Manifest
from dlprof.schema.tables import SCHEMA_VERSION
from dlprof.schema.vocabulary import RunState, Severity
from dlprof.store import condition, lock, swap
from dlprof.store.condition import Condition, State
from dlprof.store.run import Run

_NAMED_BY: Mapping[str, str] = MappingProxyType(
    {"kernel_events": "kernel_ops", "kernel_totals": "kernel_ops", "stacks": "frames"}
)
"""Tables of numbers that mean nothing without another one."""


def stored(folder: RunDir, *, rebuild: bool = False) -> Run:
    """A run with sound tables.

    Args:
        folder: The run folder.
        rebuild: Make the tables anew in any case.

    Raises:
        NoInputError: There is no run.
        BadDataError: It is of a newer dlprof, or none of its tables is sound and what they were made of is gone.
        UsageError: Tables are to be made again that cannot be.
        CannotCreateError: They are to be made, and the folder cannot be written to.
    """
    folder.refuse_strange()
    manifest = folder.read_manifest()
    found = condition.examine(folder.tables)
    if folder.is_ours and swap.interrupted(folder.tables):
        found = _recovered(folder, found)
    _refuse_newer(folder, manifest, found)
    if manifest.state == RunState.IMPORTED:
        return _imported(folder, manifest, found, rebuild=rebuild)
    if not rebuild and _is_fine(manifest, found):
        return Run(folder, manifest)
    return _made_again(folder, manifest, found, rebuild=rebuild)


def _is_fine(manifest: Manifest, found: Condition) -> bool:
    current = found.state == State.SOUND and manifest.tables_version == SCHEMA_VERSION
    return current and not rundir.goes_on(manifest)


def _recovered(folder: RunDir, found: Condition) -> Condition:
    """What is there once an interrupted swap is mended; one that another dlprof is at just now is its own affair."""
    with contextlib.suppress(CannotCreateError):
        with lock.held(folder.path, "makes the tables of", wait_s=0):
            swap.recover(folder.tables)
        folder.refuse_strange()  # what has got the name just now, too
        return condition.examine(folder.tables)
    return found


def _refuse_newer(folder: RunDir, manifest: Manifest, found: Condition) -> None:
    version = max(manifest.tables_version, found.version or 0)
    if version > SCHEMA_VERSION:
        text = f"The tables of {folder.path} were made by a newer dlprof (schema {version})."
        raise BadDataError(text, hint="pip install -U dlprof")


def _imported(folder: RunDir, manifest: Manifest, found: Condition, *, rebuild: bool) -> Run:
    """A run of foreign traces keeps none of what its tables were made of."""
    if rebuild:
        text = f"--rebuild is of no use: {folder.path.name} was imported, and keeps none of the files."
        raise UsageError(text, hint="dlprof import FILES")
    if not found.readable:
        because = "a run that was imported keeps none of the files that it was made of"
        return _what_is_left(folder, manifest, found, because, hint="dlprof import FILES")
    return _as_it_is(folder, manifest, found, "the files that it was imported from are not kept")


def _made_again(folder: RunDir, manifest: Manifest, found: Condition, *, rebuild: bool) -> Run:
    gone = raw_artifacts.gone(folder, found.seal)
    poorer = bool(gone) and (found.readable or bool(found.sound))
    if not poorer and (manifest.tables_version == 0 or raw_artifacts.any_left(folder)):
        return _all_made_again(folder)
    because = f"{raw_artifacts.named(gone)} gone" if gone else "raw/ is empty"
    if rebuild and found.readable:
        text = f"The tables of {folder.path.name} stay as they are: {because}, and they cannot be made again."
        raise UsageError(text)
    if found.readable:
        return _as_it_is(folder, manifest, found, because)
    left = mended_tables.mend(folder, found)
    if left.readable:
        return _as_it_is(folder, manifest, left, because)
    if rebuild and left.sound:
        raise UsageError(f"{_what(folder, left)}, and cannot be made again: {because}.")
    return _what_is_left(folder, manifest, left, f"cannot be made again: {because}")


def _all_made_again(folder: RunDir) -> Run:
    # Most runs have their tables, and need not wait for all that makes them.
    from dlprof.pipeline import private_copy  # noqa: PLC0415
    from dlprof.pipeline.ingest import ingest  # noqa: PLC0415

    if folder.is_ours:
        with contextlib.suppress(CannotCreateError):  # a full disk, or one that is read only
            return Run(folder, ingest(folder))
    place = private_copy.of(folder)
    return Run(place, ingest(place))


def _what_is_left(folder: RunDir, manifest: Manifest, found: Condition, because: str, hint: str | None = None) -> Run:
    """The run with those of its tables that are sound; of each other one it is said that it is lost, and why.

    Raises:
        BadDataError: None is sound.
    """
    if not found.sound:
        raise BadDataError(f"{_what(folder, found)}, and {because}.", hint=hint)
    lost = _with_dependents({damage.table: f"the table {damage}, and {because}" for damage in found.damages})
    missing = tuple(
        _entry("table-lost", Severity.ERROR, f"{why[:1].upper()}{why[1:]}: what was in it is in no figure.")
        for why in dict.fromkeys(lost.values())
    )
    return Run(folder, manifest, said=(*missing, *_doubts(found, because)), lost=lost)


def _with_dependents(lost: dict[str, str]) -> dict[str, str]:
    named = {table: lost[names] for table, names in _NAMED_BY.items() if names in lost and table not in lost}
    return lost | named


def _as_it_is(folder: RunDir, manifest: Manifest, found: Condition, because: str) -> Run:
    """The run with the tables that there are; what may be missing is said."""
    return Run(folder, manifest, said=_doubts(found, because))


def _doubts(found: Condition, because: str) -> tuple[HealthEntry, ...]:
    if found.seal is not None and found.version == SCHEMA_VERSION:
        return ()
    if found.version != SCHEMA_VERSION:
        text = (
            f"The tables are of an older dlprof (schema {found.version} instead of {SCHEMA_VERSION}) and stay as they "
            f"are, for {because}: what that one did not record is not known."
        )
        return (_entry("tables-old", Severity.INFO, text),)
    text = f"Nothing tells whether the tables are all that there were, and they stay as they are, for {because}."
    return (_entry("tables-unsealed", Severity.WARNING, text),)


def _entry(slug: str, severity: Severity, text: str) -> HealthEntry:
    return HealthEntry(slug=slug, severity=severity, message=text)


def _what(folder: RunDir, found: Condition) -> str:
    """What is wrong with the tables, as the beginning of a sentence."""
    if found.state == State.ABSENT:
        return f"The tables of {folder.path.name} are gone"
    more = f", and {len(found.damages) - 1} more" if len(found.damages) > 1 else ""
    return f"The tables of {folder.path.name} are damaged ({found.damages[0]}{more})"
