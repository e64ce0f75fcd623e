"""The server of the Model Context Protocol as a program, asked by the SDK's own client, and by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.unit.runs import trained, window

pytestmark = pytest.mark.integration
KERNELS = [{"op": "MatMul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 8}]


def test_an_assistant_gets_from_the_question_to_the_finding(tmp_path: Path) -> None:
    """It lists the runs, asks for the causes, looks into a table, and reads a page; a damaged run is an answer, too."""
    trained(tmp_path / "dlprof_runs" / "slow", **window(KERNELS))
    trained(tmp_path / "dlprof_runs" / "damaged").folder.manifest_path.write_text("{")
    program = StdioServerParameters(command=sys.executable, args=["-m", "dlprof", "mcp"], cwd=tmp_path)

    async def ask() -> None:
        async with Client(program) as client:
            listed = await client.call_tool("runs", {})
            assert {one["run"] for one in listed.structured_content["runs"]} == {"slow", "damaged"}
            found = await client.call_tool("findings", {"run": "slow"})
            assert found.structured_content["schema"] == "dlprof.diagnose/1"
            one = {"run": "slow"}
            for tool, words in (("report", one), ("kernels", one), ("compare", {"a": "slow", "b": "slow"})):
                assert not (await client.call_tool(tool, words)).is_error
            rows = await client.call_tool("sql", {"run": "slow", "query": "SELECT count(*) FROM steps"})
            assert rows.structured_content["rows"] == [[250]]
            refused = await client.call_tool("report", {"run": "damaged"})
            assert refused.is_error
            page = await client.read_resource("dlprof://pages/glossary")
            assert getattr(page.contents[0], "text", "").startswith("# Glossary")

    anyio.run(ask)


def test_nothing_but_the_protocol_is_on_standard_output(tmp_path: Path) -> None:
    """Every line is a message; the end of the input ends the server with 0."""
    trained(tmp_path / "dlprof_runs" / "one")
    told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": told},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "findings", "arguments": {"run": "last"}}},
        {"id": 3, "method": "tools/call", "params": {"name": "report", "arguments": {"run": "none"}}},
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "dlprof", "mcp"],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None
    answers = []
    for message in messages:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        if "id" in message:
            answers.append(json.loads(server.stdout.readline()))
    rest, _ = server.communicate(timeout=120)

    assert [one["id"] for one in answers] == [1, 2, 3]
    assert answers[0]["result"]["serverInfo"]["name"] == "dlprof"
    assert answers[2]["result"]["isError"] is True
    assert (rest, server.returncode) == ("", 0)
