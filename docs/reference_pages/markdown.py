"""Pieces of Markdown out of texts that mean nothing by their signs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SIGNS = re.compile(r"([\\*_<>\[\]|$~#{}!&])")


def plain(text: str) -> str:
    """A text of one line that comes out as it is."""
    return _escaped(" ".join(text.split())).replace("`", r"\`")


def prose(text: str) -> str:
    """A sentence of the code: what stands between backticks is code, all else is plain."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return plain(text)
    return "".join(code(part) if number % 2 else _escaped(part) for number, part in enumerate(parts))


def _escaped(text: str) -> str:
    return _SIGNS.sub(r"\\\1", text)


def code(text: str) -> str:
    """A text as code within a line or a cell; empty stays empty."""
    shown = " ".join(text.split()).replace("|", r"\|")
    if not shown:
        return ""
    fence = "``" if "`" in shown else "`"
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def block(text: str, language: str = "text") -> str:
    """Lines as code."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def page(title: str, *parts: str) -> str:
    """A page of the reference."""
    return "\n\n".join([f"# {title}", *(part for part in parts if part)]) + "\n"
