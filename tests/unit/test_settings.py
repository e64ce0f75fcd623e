"""Settings: of dlprof, with their origins; of pip, translated for uv."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof import config
from dlprof.errors import UsageError
from dlprof.launch import pip_settings


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


def test_pip_variables_outweigh_pip_files(tmp_path: Path) -> None:
    """As pip does it; a section for install counts too."""
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nindex-url = https://a.example/simple\ntimeout = 7\n[install]\nno_index = true\n")

    found = pip_settings.read(
        {"PIP_INDEX_URL": "https://b.example/simple", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}, [file]
    )

    assert found == {"index-url": "https://b.example/simple", "timeout": "7", "no-index": "true"}


def test_pip_settings_become_uv_variables(tmp_path: Path) -> None:
    """Several indexes are searched for the best version, as pip does; folders that are not there are left out."""
    settings = {
        "index-url": "https://a.example/simple",
        "extra-index-url": f"https://b.example/simple\nfile://{tmp_path}/missing",
        "find-links": f"{tmp_path} {tmp_path}/missing",
        "cert": "/etc/ca.pem",
    }

    assert pip_settings.as_uv_environment(settings, {}) == {
        "UV_DEFAULT_INDEX": "https://a.example/simple",
        "UV_INDEX": "https://b.example/simple",
        "UV_FIND_LINKS": str(tmp_path),
        "SSL_CERT_FILE": "/etc/ca.pem",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_uvs_own_variables_win() -> None:
    """Who set up uv meant it."""
    found = pip_settings.as_uv_environment(
        {"index-url": "https://a.example"}, {"UV_DEFAULT_INDEX": "https://b.example"}
    )

    assert found == {}


def test_pip_files_are_switched_off_by_devnull() -> None:
    """As pip documents it."""
    assert pip_settings.config_files({"PIP_CONFIG_FILE": "/dev/null"}) == []
