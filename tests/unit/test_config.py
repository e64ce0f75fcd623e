"""Settings of dlprof, with their origins."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof import config
from dlprof.errors import UsageError


def test_flags_outweigh_the_environment_which_outweighs_the_file(tmp_path: Path) -> None:
    """And each value remembers where it came from."""
    (tmp_path / "pyproject.toml").write_text('[tool.dlprof]\nbackend = "a"\nstacks-hz = 5\nprobes = "phases"\n')

    found = config.load({"backend": "c"}, {"DLPROF_BACKEND": "b", "DLPROF_PROBES": "-gpu"}, tmp_path)

    assert (found.backend, found.stacks_hz, found.probes) == (
        "c",
        5.0,
        ("phases", "lines", "stacks", "kernels", "cores"),
    )
    assert dict(found.origins) == {
        "backend": "command line",
        "probes": "environment",
        "stacks_hz": str(tmp_path / "pyproject.toml"),
    }


def test_an_unknown_setting_of_the_file_is_refused_with_the_nearest(tmp_path: Path) -> None:
    """A slip of the pen is not passed over."""
    (tmp_path / "pyproject.toml").write_text("[tool.dlprof]\nbackends = 1\n")

    with pytest.raises(UsageError) as caught:
        config.load({}, {}, tmp_path)

    assert caught.value.hint == "did you mean backend?"


@pytest.mark.parametrize(
    ("text", "probes"),
    [
        ("all", config.PROBES),
        ("none", ()),
        ("cores,gpu", ("cores", "gpu")),
        ("-stacks", ("phases", "lines", "kernels", "cores", "gpu")),
        ("lines", ("phases", "lines")),
    ],
)
def test_probes_are_chosen_by_name_or_by_leaving_out(text: str, probes: tuple[str, ...]) -> None:
    """Lines need phases, which carry them."""
    assert config.parse_probes(text) == probes
