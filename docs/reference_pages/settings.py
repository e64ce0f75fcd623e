"""Settings and environment variables."""

from __future__ import annotations

import re
from dataclasses import fields

from dlprof import config
from dlprof.cli import described
from dlprof.launch import pip_settings
from reference_pages import commands, source
from reference_pages import markdown as md

OTHERS = {
    "DLPROF_DATA": "folder of the managed environments and of all else that dlprof keeps between runs; default: the "
    "user's data folder",
    "DLPROF_PYTHONS": "more interpreters to look for: programs or folders, separated by `:`",
    "DLPROF_DEBUG": "any value: print the traceback of a bug in dlprof instead of keeping it in a file",
    "DLPROF_MARK": "set by dlprof for the program of `trace --exec`: file to which it appends its phases",
}
"""Variables that are no settings of a trace."""


def page() -> str:
    """The page."""
    return md.page(
        "Settings and environment variables",
        "A setting of `dlprof trace` is taken from the command line, else from the environment, else from "
        "`[tool.dlprof]` of the nearest pyproject.toml, else it is the default. The manifest says where each is from.",
        md.table(("setting", "flag", "variable", "default", "means"), _settings()),
        "## Other variables",
        md.table(("variable", "means"), [(md.code(name), md.prose(text)) for name, text in OTHERS.items()]),
        "## pip's settings",
        "Managed environments are made by uv with the settings that pip has, from its configuration files or `PIP_…` "
        "variables. A variable of uv that is set wins.",
        md.table(
            ("pip", "uv"),
            [(md.code(pip), md.code(uv)) for pip, uv in pip_settings._TO_UV.items()],  # noqa: SLF001  (what the code says)
        ),
    )


def _settings() -> list[tuple[str, ...]]:
    meanings = source.attributes(source.DLPROF / "config.py", "TraceConfig")
    defaults = {field.name: getattr(config.TraceConfig(), field.name) for field in fields(config.TraceConfig)}
    flags = {action.dest: described.invocation(action) for action in described.arguments(commands.parser("trace"))}
    flags["max_memory"] = "import --max-memory SIZE"
    return [
        (
            md.code(name),
            md.code(flags.get(name, "")),
            md.code(variable(name)),
            md.code(_shown(defaults[name])),
            md.prose(meanings[name]),
        )
        for name in config.SETTABLE
    ]


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if value else ""


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"DLPROF_{name.upper()}"


def named_in_source() -> set[str]:
    """Every variable of dlprof's own that the source names."""
    return {
        name
        for path in source.files(source.DLPROF, source.PROBES)
        for name in re.findall(r"DLPROF_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8"))
    }
