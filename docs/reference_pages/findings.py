"""Every rule of the diagnosis: what it sees, what it claims and what to do, with examples from the exam."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from dlprof.analysis.findings.rules import RULES, module_name
from dlprof.cli.rule_texts import advice
from reference_pages import markdown as md
from reference_pages import source

HOME = source.DLPROF / "analysis" / "findings"
TRUTHS = source.ROOT / "scenarios" / "faults"
_ROW = re.compile(r"^\| (?P<slugs>`[^|]+`) \| (?P<signal>.+?) \| (?P<stake>.+?) \|$", re.MULTILINE)
_ABOUT = """\
What each finding means, and what to do. `dlprof diagnose` asks these rules, in this order: time that one has claimed is
no other's. What is at stake is the time that the remedy would save; how findings are put together is told in
[Comparing, diagnosing, gating](../../comparing.md), how often they are right in [The exam](../../exam.md). In what to
do, … stands for what the run tells: a number, an argument, a line. The examples come with dlprof: `dlprof scenarios
copy faults`, then `dlprof exam --only NAME` plants the cause, and looks whether it is found."""


def page() -> str:
    """The page."""
    rows = [
        (str(number), f"[{slug}](#{slug})", md.prose(source.said(_file(slug)))) for number, slug in enumerate(RULES, 1)
    ]
    parts = [_ABOUT, md.table(("", "finding", "cause"), rows)]
    for slug in RULES:
        parts += [f"## {slug}", md.prose(source.said(_file(slug))), "\n".join(_told(slug))]
    return md.page("Findings", *parts)


def _told(slug: str) -> Iterator[str]:
    """What there is to know of a finding, line by line."""
    path = _file(slug)
    signal, stake = claims().get(slug, ("", ""))
    if signal:
        yield f"- Signal: {signal}"
        yield f"- Time at stake: {stake}"
    yield f"- Looks at: {md.prose(source.said(path, 'look'))}"
    yield from (f"- What to do: {md.plain(one)}" for one in advice(path))
    yield f"- `--confirm` tries: {'; '.join(md.plain(one) for one in remedies(path)) or 'nothing'}"
    yield from (f"- Cannot tell: {md.plain(one)}" for one in abstentions(path))
    yield from (f"- Example `{name}`: {md.plain(about)}" for name, about in examples().get(slug, {}).items())


@cache
def claims() -> Mapping[str, tuple[str, str]]:
    """Finding to its signal and the time at stake, as Markdown, from the table of `comparing.md`."""
    text = (source.ROOT / "docs" / "comparing.md").read_text(encoding="utf-8").partition("\n## Findings\n")[2]
    found = {}
    for row in _ROW.finditer(text):
        signal, stake = (re.sub(r"\]\((?!https?:)", "](../../", row[part]) for part in ("signal", "stake"))
        found.update(dict.fromkeys(re.findall(r"`([^`]+)`", row["slugs"]), (signal, stake)))
    return found


@cache
def examples() -> Mapping[str, Mapping[str, str]]:
    """Finding to the planted causes of the exam that it is to find: name to what is planted."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(TRUTHS.glob("*.toml")):
        truth = tomllib.loads(path.read_text(encoding="utf-8"))
        if truth["about"] not in found.setdefault(truth["slug"], {}).values():
            found[truth["slug"]][path.stem] = truth["about"]
    return found


def _file(slug: str) -> Path:
    return Path(str(sys.modules[module_name(slug)].__file__))


def remedies(path: Path) -> list[str]:
    """Titles of the remedies that a rule offers."""
    return list(dict.fromkeys(source.text_of(call.args[0]) for call in source.calls(source.tree(path), "Remedy")))


def abstentions(path: Path) -> list[str]:
    """For want of what a rule abstains: by itself, or where it asks the case."""
    own = _raised(source.tree(path))
    of_case = _of_case()
    asked = [n.attr for n in ast.walk(source.tree(path)) if isinstance(n, ast.Attribute) and n.attr in of_case]
    return list(dict.fromkeys([*own, *(text for name in asked for text in of_case[name])]))


def _of_case() -> dict[str, list[str]]:
    """Members of a case and its parts that abstain, and why; constructors, which end every diagnosis, are left out."""
    methods = [
        node
        for path in sorted(HOME.glob("*.py"))
        for node in ast.walk(source.tree(path))
        if isinstance(node, ast.FunctionDef) and node.name != "__init__"
    ]
    return {method.name: texts for method in methods if (texts := _raised(method))}


def _raised(node: ast.AST) -> list[str]:
    return [source.text_of(call.args[0]) for call in source.calls(node, "Abstain")]
