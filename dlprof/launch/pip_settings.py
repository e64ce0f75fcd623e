"""pip's own settings, translated for uv: whoever set up pip for their network need not do it twice."""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LISTS = ("find-links", "extra-index-url", "trusted-host")
_TO_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "trusted-host": "UV_INSECURE_HOST",
    "timeout": "UV_HTTP_TIMEOUT",
    "retries": "UV_HTTP_RETRIES",
    "proxy": "ALL_PROXY",
    "no-index": "UV_NO_INDEX",
}


def config_files(environ: Mapping[str, str]) -> list[Path]:
    """Pip's configuration files in rising order of weight: global, user, site, `PIP_CONFIG_FILE`."""
    home = Path(environ.get("HOME", "~")).expanduser()
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    xdg = [
        Path(folder) / "pip" / "pip.conf" for folder in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":") if folder
    ]
    user = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf"
    files = [*xdg, Path("/etc/pip.conf"), home / ".pip" / "pip.conf", user, Path(sys.prefix) / "pip.conf"]
    return [*files, Path(named)] if named else files


def read(environ: Mapping[str, str], files: list[Path]) -> dict[str, str]:
    """Pip's settings for installing, by their long names; values of lists are separated by white space.

    Args:
        environ: Environment variables; `PIP_…` outweigh the files.
        files: Configuration files in rising order of weight; those missing or damaged are passed over.
    """
    settings: dict[str, str] = {}
    for path in files:
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (OSError, configparser.Error, UnicodeDecodeError):
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                settings.update({key.replace("_", "-"): value for key, value in parser.items(section)})
    for name, value in environ.items():
        if name.startswith("PIP_") and value:
            settings[name[4:].lower().replace("_", "-")] = value
    return {name: value for name, value in settings.items() if name in _TO_UV}


def as_uv_environment(settings: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Environment variables for uv that say what `settings` say to pip.

    A variable that is set in `environ` wins. Local folders that do not exist are left out: pip passes
    over them, uv would stop.
    """
    variables: dict[str, str] = {}
    for name, value in settings.items():
        translated = _translated(name, value)
        if translated:
            variables[_TO_UV[name]] = translated
    if "UV_INDEX" in variables:
        # uv would stop at the first index that has the name, though it lacks the version. Which index a file comes
        # from decides nothing: locks name versions and hashes, and no other file is taken.
        variables["UV_INDEX_STRATEGY"] = "unsafe-first-match"
    return {name: value for name, value in variables.items() if name not in environ}


def _translated(name: str, value: str) -> str:
    if name in _LISTS:
        words = [word for word in value.split() if name == "trusted-host" or _exists(word)]
        # uv takes find-links separated by commas, the other lists by blanks.
        return ("," if name == "find-links" else " ").join(words)
    if name == "no-index":
        return "1" if value.lower() in ("1", "true", "yes", "on") else ""
    return value


def _exists(location: str) -> bool:
    parts = urlsplit(location)
    if parts.scheme == "file":
        return Path(unquote(parts.path)).exists()
    return parts.scheme in ("http", "https") or Path(location).exists()
