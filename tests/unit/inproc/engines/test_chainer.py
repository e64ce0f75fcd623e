"""Chainer's trace: every function with its link and pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.contracts.engine_programs import PROGRAMS


def test_forward_backward_and_update_are_told_with_their_link(probed: Callable[..., Any], tmp_path: Any) -> None:
    """What a backward pass calls belongs to the link of its function."""
    setup = probed("chainer")
    step, tracer = PROGRAMS["chainer"]().stepping(), setup.engine.make_tracer()

    tracer.start(str(tmp_path))
    step()
    tracer.stop()

    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [(event["name"], event["args"]["name"], event["args"]["op"]) for event in events] == [
        ("LinearFunction", "Linear", "forward"),
        ("Sum", "", "forward"),
        ("_Gradient", "", "backward"),
        ("Sum", "", "backward"),
        ("_Gradient", "Linear", "backward"),
        ("LinearFunction", "Linear", "backward"),
        ("SGDRule", "", "update"),
    ]


def test_after_a_window_nothing_is_hooked(probed: Callable[..., Any], tmp_path: Any) -> None:
    """Neither functions nor links nor update rules."""
    setup = probed("chainer")
    import chainer

    update = chainer.UpdateRule.update
    tracer = setup.engine.make_tracer()
    tracer.start(str(tmp_path))
    tracer.stop()

    assert (chainer.hooks.function_hooks, chainer.hooks.link_hooks) == ([], [])
    assert chainer.UpdateRule.update is update


def test_a_start_that_fails_is_undone_by_stop(probed: Callable[..., Any], tmp_path: Any) -> None:
    """A hook of the user's may have the name."""
    setup = probed("chainer")
    import chainer

    mine = type("Mine", (chainer.LinkHook,), {"name": "dlprof"})()
    update = chainer.UpdateRule.update
    tracer = setup.engine.make_tracer()
    with mine:
        with pytest.raises(KeyError):
            tracer.start(str(tmp_path))
        tracer.stop()

        assert (chainer.hooks.function_hooks, chainer.hooks.link_hooks) == ([], [mine])
    assert chainer.UpdateRule.update is update


def test_iterators_that_a_script_wrote_are_heard_of_once_its_optimiser_has_a_model(
    probed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their own `__next__` is hooked; not that of what calls another one's, whose items are told of already."""
    setup = probed("chainer")
    import chainer

    class Words(chainer.dataset.Iterator):  # type: ignore[misc]
        def __next__(self) -> int:
            return 7

    class Halves(Words):
        def __next__(self) -> int:
            return super().__next__() // 2

    own, given = setup.probe.own_loops, []
    monkeypatch.setattr(own, "given", lambda _iterator, item=None: given.append(item))
    chainer.optimizers.SGD(0.1).setup(None)

    assert (next(Words()), next(Halves()), given) == (7, 3, [7, 7])
