"""Settings of dlprof, with their origins."""

from __future__ import annotations

from dataclasses import fields
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

    assert caught.value.message.endswith("has the unknown setting backends; did you mean backend?")


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


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("kernel_steps", "12", 12),
        ("budget", "1%", 0.01),
        ("budget", "0.5 %", 0.005),
        ("budget", "off", None),
        ("budget", "none", None),
        ("budget", False, None),
        ("cores_hz", "2.5", 2.5),
        ("live", "off", False),
        ("live", "1", True),
        ("progress", False, False),
        ("lines", "a,b", ("a", "b")),
        ("lines", ["a"], ("a",)),
        ("kernels", "all", "all"),
        ("overrides", '{"jit": true}', {"jit": True}),
        ("output", "runs/a", "runs/a"),
    ],
)
def test_a_setting_is_made_of_what_its_source_has(tmp_path: Path, name: str, value: object, expected: object) -> None:
    """Texts of the environment, values of a file, flags."""
    assert getattr(config.load({name: value}, {}, tmp_path), name) == expected


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("kernel_steps", "many", "kernel_steps from command line is not a whole number: many"),
        ("kernel_steps", 0, "kernel_steps from command line must lie between 1 and 100000, not 0."),
        ("stacks_hz", "fast", "stacks_hz from command line is not a number: fast"),
        ("stacks_hz", 5000, "stacks_hz from command line must lie between 0.1 and 1000 samples per second, not 5000."),
        ("budget", "much", "budget from command line is no share of the run's time: much"),
        ("budget", 1, "budget from command line is no share of the run's time: 1"),
        ("budget", "0%", "budget from command line must lie between 0.01% and 100%, not 0%; off: no limit."),
        ("kernels", "al", "kernels from command line cannot be al; did you mean all?"),
        ("overrides", "[1]", "overrides from command line is not a JSON object: [1]"),
        ("probes", "cors", "There is no probe cors; did you mean cores?"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(tmp_path: Path, name: str, value: object, said: str) -> None:
    """With the setting, and where the value came from."""
    with pytest.raises(UsageError) as caught:
        config.load({name: value}, {}, tmp_path)

    assert caught.value.message == said


def test_a_budget_is_one_percent_unless_it_is_said(tmp_path: Path) -> None:
    """In a settings file it is written as on the command line."""
    (tmp_path / "pyproject.toml").write_text('[tool.dlprof]\nbudget = "2%"\n')

    assert (config.load({}, {}, tmp_path).budget, config.TraceConfig().budget) == (0.02, 0.01)
    assert config.load({}, {"DLPROF_BUDGET": "3%"}, tmp_path).budget == 0.03


def test_what_the_user_gave_is_known_from_what_is_so_by_default(tmp_path: Path) -> None:
    """It is obeyed, whatever it costs."""
    found = config.load({"stacks_hz": 20.0}, {}, tmp_path)

    assert (found.is_given("stacks_hz"), found.is_given("cores_hz")) == (True, False)


def test_every_setting_can_come_from_the_environment(tmp_path: Path) -> None:
    """What is run is no setting, nor is where values came from."""
    assert set(config.SETTABLE) == {field.name for field in fields(config.TraceConfig)} - {
        "script",
        "module",
        "program",
        "arguments",
        "origins",
        "said",
    }
    assert config.load({}, {"DLPROF_SCRIPT": "x"}, tmp_path).script == ""


@pytest.mark.parametrize(
    ("text", "size"),
    [("800MB", 838_860_800), ("2g", 2_147_483_648), ("1.5 GiB", 1_610_612_736), ("134217728", 134_217_728)],
)
def test_memory_is_given_with_its_unit(text: str, size: int, tmp_path: Path) -> None:
    """Of 1024, however it is written; a number alone is bytes."""
    assert config.load({"max_memory": text}, {}, tmp_path).max_memory == size
    assert config.load({}, {"DLPROF_MAX_MEMORY": text}, tmp_path).max_memory == size


@pytest.mark.parametrize("text", ["", "much", "1MB", "-2GB", "1e9", "99999TB"])
def test_memory_that_is_none_is_a_wrong_setting(text: str, tmp_path: Path) -> None:
    """With an example of what is one."""
    with pytest.raises(
        UsageError, match="max_memory from command line must be a size from 64MB to 64TB, such as 800MB"
    ):
        config.load({"max_memory": text}, {}, tmp_path)
