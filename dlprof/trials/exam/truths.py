"""Truth files: which cause is planted, in which script, on which backends, and how (scenarios/faults/README.md)."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlprof.analysis.findings import registry as rules
from dlprof.backends import registry
from dlprof.errors import NoInputError, UsageError

_KEYS = {"slug", "also", "about", "script", "backends", "arguments", "line", "fault", "environment"}


@dataclass(frozen=True)
class Truth:
    """A planted cause on one backend.

    Attributes:
        name: Name of the truth file.
        slug: The cause.
        also: Other names that are right for it.
        script: The script.
        backend: Managed backend.
        arguments: Of both runs.
        environment: Variables of both runs.
        fault_arguments, fault_environment: What plants the cause.
        beside: Busy processes that run beside the faulty run.
        line: Text in the line that is to blame; None: there is no such line.
    """

    name: str
    slug: str
    also: tuple[str, ...]
    script: Path
    backend: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    fault_arguments: tuple[str, ...]
    fault_environment: Mapping[str, str]
    beside: int
    line: str | None

    def folder(self, *, faulty: bool) -> str:
        """Name of the folder of its runs; several truths may share the clean ones.

        It holds a digest of the script and of all that goes into a run: changed, it is another folder.
        """
        words = [self.script.stem, self.backend, *self.arguments, *(f"{k}={v}" for k, v in self.environment.items())]
        parts: list[object] = [_sources(self.script, set()), *words]
        if faulty:
            parts += [*self.fault_arguments, sorted(self.fault_environment.items()), self.beside]
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:8]
        name = "-".join(word.strip("-").replace("/", "_") for word in words)[:100]
        return f"fault-{self.name}-{self.backend}-{digest}" if faulty else f"clean-{name}-{digest}"


def load(folder: Path, *, only: Sequence[str] = ()) -> list[Truth]:
    """Read the truth files of a folder.

    Args:
        folder: Where they are.
        only: Names of truth files, slugs or backends; empty: all.

    Raises:
        NoInputError: There are none.
        UsageError: One is wrong; the text says where.
    """
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise NoInputError(f"There is no truth file in {folder}.", hint="dlprof scenarios copy faults")
    truths = [truth for path in paths for truth in _read(path)]
    chosen = [truth for truth in truths if not only or {truth.name, truth.slug, truth.backend} & set(only)]
    if not chosen:
        raise UsageError(f"Nothing in {folder} is called {', '.join(only)}.", hint="names, slugs or backends")
    return chosen


def _read(path: Path) -> Iterator[Truth]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    unknown = sorted(content.keys() - _KEYS)
    if unknown:
        raise UsageError(f"{path}: unknown key {unknown[0]}.", hint=f"known: {', '.join(sorted(_KEYS))}")
    fault = content.get("fault", {})
    script = (path.parent / str(content.get("script", ""))).resolve()
    if content.get("slug") not in rules.all_rules():
        raise UsageError(
            f"{path}: there is no finding {content.get('slug')}.", hint=f"known: {', '.join(rules.all_rules())}"
        )
    if not script.is_file():
        raise NoInputError(f"{path}: there is no script {content.get('script')}.")
    for backend in content.get("backends", []):
        registry.get(backend)
        yield Truth(
            name=path.stem,
            slug=content["slug"],
            also=tuple(content.get("also", ())),
            script=script,
            backend=backend,
            arguments=tuple(content.get("arguments", ())),
            environment=content.get("environment", {}),
            fault_arguments=tuple(fault.get("arguments", ())),
            fault_environment=fault.get("environment", {}),
            beside=int(fault.get("beside", 0)),
            line=content.get("line"),
        )


def _sources(script: Path, seen: set[Path]) -> str:
    """The text of a script and of the modules beside it that it imports."""
    seen.add(script)
    text = script.read_text(encoding="utf-8")
    named = re.findall(r"^\s*(?:import|from)\s+(\w+)", text, re.MULTILINE)
    beside = sorted({script.with_name(f"{name}.py") for name in named} - seen)
    return "\n".join([text, *(_sources(path, seen) for path in beside if path.is_file())])
