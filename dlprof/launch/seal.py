"""Whether a run was made here: by this user's dlprof, on this machine, and not by somebody who sent it.

A run folder says what was run, and a stranger's may say anything; that it names this machine is soon written. So
dlprof signs what it runs with a key that lies in the user's data folder. The seal is of use for that alone: it tells
nothing to others, and protects nothing but what `diagnose --confirm` would run again.
"""

from __future__ import annotations

import hashlib
import hmac
import os

import msgspec

from dlprof import safe_files
from dlprof.launch.data_folder import data_folder
from dlprof.schema import manifest_json
from dlprof.schema.manifest import Manifest

_KEY_BYTES = 32


def seal(manifest: Manifest) -> str | None:
    """The seal of a run that is about to be made; None where there is no place for a key."""
    key = _key() or _new_key()
    # As it will be read: bytes of an argument that are not UTF-8 are spelled in the file.
    return _signed(manifest_json.decode(manifest_json.encode(manifest)), key) if key is not None else None


def is_from_here(manifest: Manifest) -> bool:
    """Whether a manifest has the seal of this user's dlprof."""
    key = _key()
    return key is not None and hmac.compare_digest(_signed(manifest, key), manifest.seal or "")


def _signed(manifest: Manifest, key: bytes) -> str:
    """What would be run again, signed."""
    told = (
        manifest.created,
        manifest.machine.host,
        manifest.script_folder,
        manifest.command,
        manifest.backend.name,
        manifest.backend.source,
        str(manifest.config.get("python")),
        sorted(manifest.environment.items()),
    )
    return hmac.new(key, msgspec.json.encode(told), hashlib.sha256).hexdigest()


def _key() -> bytes | None:
    """The user's key, which nobody else could read or plant."""
    try:
        with safe_files.opened(data_folder(), _name()) as file:
            state, key = os.fstat(file.fileno()), file.read(_KEY_BYTES + 1)
    except OSError:
        return None
    return key if len(key) == _KEY_BYTES and state.st_uid == os.geteuid() and not state.st_mode & 0o077 else None


def _name() -> str:
    """Of the key's file: several users may share a data folder."""
    return f"seal-{os.geteuid()}.key"


def _new_key() -> bytes | None:
    """A key, unless another dlprof makes one just now: then its."""
    try:
        data_folder().mkdir(parents=True, exist_ok=True)
        part = data_folder() / f".{_name()}.{os.urandom(8).hex()}"
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as out:
            out.write(os.urandom(_KEY_BYTES))
        try:
            os.link(part, data_folder() / _name(), follow_symlinks=False)
        except FileExistsError:
            pass
        finally:
            part.unlink()
    except OSError:
        return None
    return _key()
