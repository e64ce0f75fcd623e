"""Plain names."""

from __future__ import annotations

import pytest

from dlprof.ingest.attribution import names


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("_fused_dropout, seq = 119", "_fused_dropout"),
        ("{'mod': 'torch.nn.functional', 'op': 'linear', 'args': [{'name': ''}]}", "torch.nn.functional.linear"),
        (
            "<built-in method run_backward of Engine object at 0x7fc958eaf2d0>",
            "<built-in method run_backward of Engine>",
        ),
    ],
)
def test_names_of_ranges_are_made_plain(given: str, found: str) -> None:
    """Without sequence numbers, arguments and addresses."""
    assert names.plain(given) == found
