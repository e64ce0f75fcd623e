"""The pages of the reference that are made from the code tell all of it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
import reference_pages
from reference_pages import backends, commands, findings, formats, markdown, messages, settings, source, tables

from dlprof import cli, config
from dlprof.analysis.findings.rules import RULES
from dlprof.backends import registry
from dlprof.cli import described, rule_texts
from dlprof.ingest.formats.registry import READERS
from dlprof.schema.tables import TABLES

DOCS = Path(__file__).parents[2] / "docs"


def sections(page: str) -> list[str]:
    """Headings of the second rank."""
    return re.findall(r"^## (.*)$", page, re.MULTILINE)


@cache
def all_commands() -> str:
    """The page of commands, made once for all tests."""
    return commands.page()


@cache
def all_findings() -> str:
    """The page of findings, for which every rule is read: made once, too."""
    return findings.page()


def first_cells(page: str) -> set[str]:
    """What stands as code in the first cell of a row."""
    return set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE))


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_a_section_with_all_its_flags(name: str) -> None:
    """Taken from the parser itself."""
    section = all_commands().split(f"\n## dlprof {name}\n")[1].split("\n## ")[0]

    missing = [
        flag
        for action in described.arguments(commands.parser(name))
        for flag in action.option_strings
        if flag not in section
    ]

    assert missing == []


def test_the_subcommands_of_backends_have_sections_too() -> None:
    """And so has what they take."""
    page = all_commands()

    assert re.findall(r"^### (dlprof backends \w+)$", page, re.MULTILINE) == [
        "dlprof backends list",
        "dlprof backends install",
        "dlprof backends remove",
        "dlprof backends path",
    ]
    assert "| `NAME ...` |" in page


def test_every_table_has_a_section_and_every_column_a_row() -> None:
    """In the order of the schema; the columns that name the process are told once for all."""
    who = ("host", "rank", "pid")

    told = {table.name: [*(who if table.of_process else ()), *table.columns] for table in tables.described()}

    assert told == {name: schema.names for name, schema in TABLES.items()}
    assert sections(tables.page()) == list(TABLES)


def test_every_table_is_described() -> None:
    """By the comment above it."""
    assert [table.name for table in tables.described() if not table.about] == []


def test_what_a_column_means_is_the_comment_beside_it() -> None:
    """On its own line, on the line where its tuple ends, or above it."""
    told = {table.name: table.columns for table in tables.described()}

    assert told["phases"]["parent"] == "null for a top-level phase"
    assert told["kernel_ops"]["kind"].startswith("kernel (on a device) | operator (on the host)")
    assert told["machine"]["stall_cpu_ns"].startswith("Counters since the machine began")
    assert told["phases"]["phase"] == ""
    assert told["phase_intervals"] == {"phase": "", "start_ns": "", "dur_ns": ""}


def test_every_figure_of_time_or_size_names_its_unit() -> None:
    """A whole number of 64 bits is a time in its unit, bytes, a count or a number of something."""
    counts = re.compile(
        r"(count|samples|hits|threads|collected|events|dropped|calls|voluntary|involuntary|minor|major|thread_id|reasons|flops|bytes|value)$"
    )
    wide = [
        (table, field.name)
        for table, schema in TABLES.items()
        for field in schema
        if (pa.types.is_int64(field.type) or pa.types.is_floating(field.type))
        and not tables.unit(field.name)
        and not counts.search(field.name)
    ]

    assert wide == []


@pytest.mark.slow
def test_every_rule_has_a_section() -> None:
    """In the order in which they claim time."""
    assert sections(all_findings()) == list(RULES)


def test_a_rule_tells_what_it_tries_and_for_want_of_what_it_abstains() -> None:
    """What it raises itself, and what it asks of the case."""
    rules = source.DLPROF / "analysis" / "findings" / "rules"

    assert findings.remedies(rules / "threads_underused.py") == ["… threads"]
    assert findings.remedies(rules / "import_heavy.py") == []
    assert findings.abstentions(rules / "threads_underused.py") == [
        "no kernel window tells how much of a step could be computed by more threads",
        "how long kernels of the host take was not traced",
        (
            "only … % of the kernels' time is in such as take … or more: shorter ones lose by waiting for other threads "
            "what they gain"
        ),
        "the engine's number of threads is not known",
        "this engine does not tell its number of threads",
        "the scheduling of threads was sampled less than twice during the training",
    ]


def test_every_backend_has_a_row_with_what_its_lock_pins() -> None:
    """Native ones too."""
    page = backends.page()

    assert first_cells(page) == set(registry.all_specs())
    assert [name for name, spec in registry.all_specs().items() if not list(backends.pins(spec))] == []


@pytest.mark.slow
def test_every_probe_reader_setting_and_error_has_a_row() -> None:
    """Each on its page."""
    assert first_cells(formats.probes()) == set(config.PROBES)
    assert first_cells(formats.readers()) == {reader.name for reader in READERS}
    assert first_cells(settings.page()) >= set(config.SETTABLE)
    assert first_cells(messages.exit_codes()) == set(messages.error_classes())


def test_every_variable_that_the_source_names_is_told() -> None:
    """Those of settings by themselves, the others by hand."""
    told = set(settings.OTHERS) | {settings.variable(name) for name in config.SETTABLE}

    assert settings.named_in_source() <= told
    assert set(settings.OTHERS) <= settings.named_in_source()


@pytest.mark.slow
def test_messages_are_what_the_source_raises() -> None:
    """With what is not known open, and what to try."""
    found = messages.Message("UsageError", "There is no script to trace.", "dlprof trace SCRIPT")

    assert found in list(messages.raised())
    assert messages.Message("NoInputError", "There is no run ….", "dlprof runs") in list(messages.raised())


def test_text_of_the_code_comes_out_as_text() -> None:
    """Whatever signs it has; what it quotes as code stays code."""
    assert markdown.plain("a|b *c* <script>\n_d_ `e`") == r"a\|b \*c\* \<script\> \_d\_ \`e\`"
    assert markdown.prose("see `a|b` <now>") == r"see `a\|b` \<now\>"
    assert markdown.prose("one ` alone") == r"one \` alone"
    assert markdown.code("a`b|c") == r"``a`b\|c``"
    assert markdown.block("x\n```\n") == "````text\nx\n```\n````"


@pytest.mark.slow
def test_pages_are_written_once_and_removed_when_they_are_no_more(tmp_path: Path) -> None:
    """What has not changed keeps its time."""
    (tmp_path / "gone.md").write_text("old")

    reference_pages.write(tmp_path)
    first = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    reference_pages.write(tmp_path)

    assert sorted(first) == sorted(f"{name}.md" for name in reference_pages.PAGES)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == first


def test_the_contents_of_the_reference_name_every_page() -> None:
    """A page that nothing leads to would not be found."""
    contents = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")

    assert re.findall(r"^generated/(.*)$", contents, re.MULTILINE) == list(reference_pages.PAGES)


def test_every_finding_says_what_it_sees_and_what_to_do() -> None:
    """A new rule must be in the table of comparing.md, and its claims must have a next step."""
    assert [slug for slug in RULES if slug not in findings.claims()] == []
    assert [slug for slug in RULES if not rule_texts.advice(findings._file(slug))] == []


@pytest.mark.slow
def test_most_findings_have_an_example_that_can_be_run() -> None:
    """The cause as it is planted by the exam; all examples are of rules that there are."""
    known = findings.examples()

    assert set(known) <= {*RULES, ""}
    assert "augmented" in known["input-bound"]
    assert "- Example `augmented`: A PyDataset that augments each image" in all_findings()


def test_links_of_the_table_lead_out_of_the_reference() -> None:
    """The page lies two folders below."""
    text = "".join(text for pair in findings.claims().values() for text in pair)

    assert "](../../memory.md#growth)" in text
    assert re.findall(r"\]\((?!\.\./\.\./|https?:)", text) == []
