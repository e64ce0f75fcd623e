"""Secrets on command lines, hidden before anything is written down.

What looks like a secret is told by the name in front of it (`--api-key VALUE`, `DB_PASSWORD=VALUE`, `?sig=VALUE`), by
its place in a URL (`https://user:VALUE@host`), or by the form that services give to theirs. In machine learning most
tokens are words of a text, so a bare number or a marker like `[PAD]` behind a name with `token` is no secret.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

MASK = "***"
"""What stands in place of a secret."""

_NAME = (
    r"(?<![\w.-])-{0,2}[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|bearer|authori[sz]ation|cookie|signature|apikey"
    r"|(?:api|access|secret|private|account|auth|encryption|client|license|subscription|ssh)[_-]?key)"
)
_QUERY_NAMES = rf"(?:{_NAME}|sig|key|code|auth|se)"
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_VALUE = rf"{_QUOTED}|[^\s,;&\"']+"


class _Patterns:
    """Compiled when the first command line is looked at."""

    def __init__(self) -> None:
        self.flag_alone = re.compile(rf"(?=-)(?P<name>{_NAME})", re.IGNORECASE)
        """A word that says that the next one is a secret."""
        self.word_assigned = re.compile(rf"(?P<before>(?P<name>{_NAME})=)(?P<value>.+)", re.IGNORECASE | re.DOTALL)
        """A word of its own, so that all behind the sign is the value."""
        self.assigned = re.compile(rf"(?P<before>(?P<name>{_NAME})[\"']?\s*[=:]\s*)(?P<value>{_VALUE})", re.IGNORECASE)
        self.after_flag = re.compile(
            rf"(?P<before>(?<!\S)(?=-)(?P<name>{_NAME})\s+)(?P<value>{_QUOTED}|[^\s-]\S*)", re.IGNORECASE
        )
        self.query = re.compile(rf"(?P<before>[?&;](?P<name>{_QUERY_NAMES})=)(?P<value>[^&\s#\"']+)", re.IGNORECASE)
        self.user_of_url = re.compile(
            r"(?P<scheme>\b[a-z][a-z0-9+.-]{0,30}://)(?P<user>[^/\s:@\"']*)(?P<password>:[^/\s\"']*)?@", re.IGNORECASE
        )
        self.forms = re.compile(
            r"""\b(?:AKIA|ASIA)[0-9A-Z]{16}\b
            | \bgh[pousr]_\w{20,} | \bgithub_pat_\w{20,} | \bglpat-[\w-]{16,}
            | \bhf_[A-Za-z0-9]{20,} | \bsk-[\w-]{20,} | \bxox[abeprs]-[\w-]{10,} | \bAIza[\w-]{30,}
            | \beyJ[\w-]{8,}\.eyJ[\w-]{4,}\.[\w-]+
            | (?<=\bBearer\s)[\w.~+/=-]{8,} | (?<=\bBasic\s)[A-Za-z0-9+/=]{8,}
            | -----BEGIN\s[A-Z ]*PRIVATE\sKEY-----[\s\S]*""",
            re.VERBOSE,
        )
        self.harmless_token = re.compile(r"(?:true|false|none|null|\d{1,7}|[\"']?[<\[].*[>\]][\"']?)", re.IGNORECASE)


@cache
def _patterns() -> _Patterns:
    return _Patterns()


def words(command: Sequence[str]) -> tuple[str, ...]:
    """A command line, word by word, with its secrets hidden.

    Args:
        command: The words, as the process was given them.
    """
    told: list[str] = []
    name: str | None = None
    for word in command:
        hidden = name is not None and not word.startswith("-") and _is_secret(name, word)
        told.append(MASK if hidden else text(_patterns().word_assigned.sub(_without_value, word, count=1)))
        flag = _patterns().flag_alone.fullmatch(word)
        name = flag["name"] if flag else None
    return tuple(told)


def text(told: str) -> str:
    """A text with the secrets in it hidden: URLs, assignments, flags with their values, forms that are known."""
    told = _patterns().user_of_url.sub(_without_user, told)
    told = _patterns().forms.sub(MASK, told)
    for pattern in (_patterns().query, _patterns().assigned, _patterns().after_flag):
        told = pattern.sub(_without_value, told)
    return told


def _without_user(found: re.Match[str]) -> str:
    """`git@` names nobody; a name alone before `@` may be a token."""
    if found["password"] is not None:
        return f"{found['scheme']}{found['user']}:{MASK}@"
    return found[0] if found["user"] in ("", "git") else f"{found['scheme']}{MASK}@"


def _without_value(found: re.Match[str]) -> str:
    return f"{found['before']}{MASK}" if _is_secret(found["name"], found["value"]) else found[0]


def _is_secret(name: str, value: str) -> bool:
    return not (name.lower().endswith("token") and _patterns().harmless_token.fullmatch(value))
