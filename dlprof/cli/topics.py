"""Topics of `dlprof help`: chapters of the documentation that come with the package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_FOLDERS = (_PACKAGE / "topics", _PACKAGE.parent / "docs")
"""Where chapters lie: in an installed package, and in a copy of the sources."""
_LINK = re.compile(r"!?\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True)
class Topic:
    """A chapter, or a section of one.

    Attributes:
        about: What it tells.
        page: Its file below docs/, without the ending.
        section: The heading, where it is not the whole file.
    """

    about: str
    page: str
    section: str = ""


TOPICS = {
    "assistants": Topic("let an assistant find and fix a slow training: dlprof mcp", "assistants"),
    "backends": Topic("managed environments, and interpreters of your own", "backends"),
    "bench": Topic("matrices of scenarios and backends", "bench"),
    "ci-gate": Topic("how to stop slow-downs in CI", "howto/ci-gate"),
    "compare-backends": Topic("how to find why one backend is slower than another", "howto/compare-backends"),
    "comparing": Topic("compare, diagnose and gate: how they come to their figures", "comparing"),
    "exam": Topic("how often the findings are right", "exam"),
    "exit-codes": Topic("what dlprof ends with", "exit-codes"),
    "exporting": Topic("formats of other viewers, and what each holds", "exporting"),
    "findings": Topic("every finding: its signal, and the time at stake", "comparing", "Findings"),
    "first-epoch": Topic("how to find why the first epoch is slow", "howto/first-epoch"),
    "glossary": Topic("every word", "glossary"),
    "gpu-rules": Topic("on which real traces the rules for GPUs were tried", "gpu-rules"),
    "history": Topic("a benchmark over commits: which one made it slower, and where", "history"),
    "host": Topic("what the script sees under dlprof: signals, streams, descriptors", "host"),
    "importing": Topic("traces of other profilers", "importing"),
    "input-pipeline": Topic("how to tell whether the input is what the training waits for", "howto/input-pipeline"),
    "json": Topic("what --json prints, field by field", "json"),
    "kernels": Topic("kernel windows, attribution, tracers", "kernels"),
    "live": Topic("the screen of trace --live", "live"),
    "many-runs": Topic("how to see whether it became slower over the weeks", "howto/many-runs"),
    "offline": Topic("how to profile on a cluster without internet", "howto/offline"),
    "own-loops": Topic("training loops of your own: what is recognised without marks", "own-loops"),
    "marks": Topic("scripts without Keras: custom loops and other programs", "marks"),
    "memory-use": Topic("memory: what is measured, what is estimated, and when it grows", "memory"),
    "notebook": Topic("notebooks: a cell traced, runs as pandas frames", "notebook"),
    "overhead": Topic("what profiling costs", "overhead"),
    "pages": Topic("pages for the browser", "pages"),
    "phases": Topic("phases of the wall time, and what makes each", "phases"),
    "python": Topic("runs and comparisons from Python: names, shapes, units", "python"),
    "ranks": Topic("trainings of several processes: torchrun, MPI, Slurm, jax.distributed, TF_CONFIG", "ranks"),
    "report": Topic("sections of the report", "report"),
    "run-folder": Topic("files of a run", "run-folder"),
    "scenarios": Topic("scripts that come with the sources", "scenarios"),
    "trying": Topic("what other settings would bring: how it is tried and forecast", "trying"),
    "which-lines": Topic("how to find the lines that cost most", "howto/lines"),
}
"""Every topic."""


def text(name: str) -> str:
    """A topic as Markdown; links lead to other topics.

    Raises:
        KeyError: There is no such topic.
    """
    topic = TOPICS[name]
    path = next(path for folder in _FOLDERS if (path := folder / f"{topic.page}.md").is_file())
    whole = path.read_text(encoding="utf-8")
    return _LINK.sub(_followed, _section(whole, topic.section) if topic.section else whole).strip()


def row(name: str, word: str) -> str:
    """What the tables of a topic say of a word that stands as code in the first column; empty: nothing."""
    for line in text(name).splitlines():
        first, _, rest = line.removeprefix("| ").partition(" | ")
        if line.startswith("|") and f"`{word}`" in first:
            return rest.partition(" | ")[0]
    return ""


def _section(whole: str, heading: str) -> str:
    return re.split(r"^## ", whole.partition(f"\n## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def _followed(link: re.Match[str]) -> str:
    """A link as what to type; one that leads out of the topics keeps its text alone."""
    if "://" in link["target"]:
        return link[0]
    name = leads_to(link["target"])
    label = link["text"]
    if name is None:
        return label
    return f"`dlprof help {name}`" if label.endswith(".md") else f"{label} (`dlprof help {name}`)"


def leads_to(target: str) -> str | None:
    """The topic that a link between chapters means, if any."""
    page, _, anchor = target.rpartition("/")[2].partition("#")
    return next((name for name in _fitting(page.removesuffix(".md"), anchor)), None)


def _fitting(page: str, anchor: str) -> Iterator[str]:
    """Topics of a page, those of the very section first."""
    of_page = {name: topic for name, topic in TOPICS.items() if topic.page.rpartition("/")[2] == page}
    yield from (name for name, topic in of_page.items() if anchor and topic.section.lower() == anchor)
    yield from (name for name, topic in of_page.items() if not topic.section)
