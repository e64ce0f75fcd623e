"""What dlprof tells the processes that measure is what these read."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dlprof.schema import process_config
from dlprof.schema.process_config import (
    HeapSettings,
    KernelSettings,
    LineSettings,
    ProcessConfig,
    SamplerConfig,
    SamplerReport,
)

PROBES = Path(__file__).parents[3] / "probes" / "dlprof_probes"
INPROC = ("boot.py", "heap.py", "in_place.py", "lines.py", "program.py", "session.py")
"""Files of the traced process that read its configuration, all of them under the name `config`."""


def keys_read(path: Path) -> Iterator[str]:
    """Constant keys that are looked up in `config`, by `config[...]` or `config.get(...)`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "config":
            key: ast.expr | None = node.slice
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "config.get":
            key = node.args[0]
        else:
            continue
        if isinstance(key, ast.Constant):
            yield str(key.value)


def fields(*structs: type[msgspec.Struct]) -> set[str]:
    """Names of all fields of some structs."""
    return {field.name for struct in structs for field in msgspec.structs.fields(struct)}


def test_the_traced_process_reads_nothing_that_is_not_written() -> None:
    """It is Python 3.6 with the standard library, so mypy cannot see it."""
    read = {key for file in INPROC for key in keys_read(PROBES / "inproc" / file)}

    assert read - fields(ProcessConfig, KernelSettings, LineSettings, HeapSettings) == set()


def test_the_traced_process_reads_all_that_is_written() -> None:
    """A setting that nobody obeys is none."""
    read = {key for file in INPROC for key in keys_read(PROBES / "inproc" / file)}

    assert fields(ProcessConfig, KernelSettings, LineSettings, HeapSettings) - read == set()


def test_the_sampler_reads_what_is_written() -> None:
    """Each key, and no other."""
    assert set(keys_read(PROBES / "sidecar" / "__main__.py")) == fields(SamplerConfig)


def test_a_configuration_in_the_same_process_is_what_a_file_would_hold() -> None:
    """A notebook's probe reads plain dictionaries, too."""
    config = ProcessConfig(
        raw="/r", status="/r/s", script="cell.py", lines=LineSettings(patterns=("a",)), overrides={"jit": True}
    )

    assert process_config.as_builtins(config) == {
        "raw": "/r", "status": "/r/s", "script": "cell.py", "module": None, "argv": [],
        "lines": {"patterns": ["a"], "package": None, "share": None}, "kernels": None, "heap": None, "engine": None,
        "engine_plugins": {}, "live": False, "pid": None, "overrides": {"jit": True}, "follow": None,
    }  # fmt: skip


def test_the_sampler_says_what_became_of_its_probes() -> None:
    """Stacks tell a reason and a cost, and no state."""
    told = b'{"cores": {"state": "failed", "reason": "no /proc"}, "stacks": {"reason": null, "cpu_ns": 7}}'

    assert process_config.decode_reports(told) == {
        "cores": SamplerReport(state="failed", reason="no /proc"),
        "stacks": SamplerReport(cpu_ns=7),
    }


def test_a_sampler_that_was_killed_while_it_wrote_has_said_nothing() -> None:
    """Half a file is none."""
    assert process_config.decode_reports(b'{"cores": {"sta') == {}


def test_arguments_that_are_not_utf_8_reach_the_process_as_they_are() -> None:
    """In a file of plain ASCII, which every Python reads alike."""
    told = ProcessConfig(raw="raw", status="status", script="a\udcff.py", argv=("ü", "\udcfe"))

    content = process_config.encode(told)

    assert content.isascii()
    assert json.loads(content)["script"] == "a\udcff.py"
    assert json.loads(content)["argv"] == ["ü", "\udcfe"]
