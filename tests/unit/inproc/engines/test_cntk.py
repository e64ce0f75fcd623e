"""Which nodes of CNTK's graph belong to which layer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dlprof_probes.inproc.engines.cntk import Nodes


def owners(nodes: Nodes, folder: Any) -> dict[str, str]:
    """What is written beside the windows."""
    nodes.write()
    return json.loads(Path(folder, "cntk-nodes.json").read_text())["owner"]  # type: ignore[no-any-return]


def layer(name: str) -> Any:
    """A layer of Keras."""
    return SimpleNamespace(name=name)


def test_a_node_belongs_to_the_first_layer_that_leads_from_it(probed: Callable[..., Any], tmp_path: Any) -> None:
    """A later layer has what is new behind its result."""
    probed("cntk")
    from cntk.layers import Function

    nodes = Nodes(str(tmp_path))
    times = Function("Times", [])
    nodes.called(layer("dense"), times)
    relu = Function("ReLU", [times])
    nodes.called(layer("activation"), [relu])

    assert owners(nodes, tmp_path) == {times.uid: "dense", relu.uid: "activation"}


def test_what_is_inside_of_blocks_and_composites_belongs_to_the_layer(
    probed: Callable[..., Any], tmp_path: Any
) -> None:
    """The trace names the nodes inside."""
    probed("cntk")
    from cntk.layers import Block, Composite, Function

    nodes = Nodes(str(tmp_path))
    inside = Function("Times", [])
    block = Block(inside, [])
    composite = Composite(block)
    nodes.called(layer("dense"), composite)

    assert owners(nodes, tmp_path) == dict.fromkeys([composite.uid, block.uid, inside.uid], "dense")


def test_a_named_node_owns_those_behind_it_up_to_the_next_named_one(probed: Callable[..., Any]) -> None:
    """In a model without Keras."""
    setup = probed("cntk")
    from cntk.layers import Block, Composite, Function

    times = Function("Times", [], "first")
    plus = Function("Plus", [times])
    inside = Function("ReLU", [])
    last = Composite(Block(inside, [plus], "second"))

    layers = setup.engine.named_layers(last)
    assert layers == [{"name": "first", "class": ""}, {"name": "second", "class": ""}]
    assert setup.engine.named_layers(object()) is None
    os.makedirs(setup.windows.folder)
    assert owners(setup.engine._nodes, setup.windows.folder) == {
        times.uid: "first",
        plus.uid: "second",
        inside.uid: "second",
        last.root_function.uid: "second",
    }
