"""Settings of pip, translated for uv."""

from __future__ import annotations

from pathlib import Path

from dlprof.launch import pip_settings


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
        "UV_INDEX_STRATEGY": "unsafe-first-match",
    }


def test_uvs_own_variables_win() -> None:
    """ProcessId set up uv meant it."""
    found = pip_settings.as_uv_environment(
        {"index-url": "https://a.example"}, {"UV_DEFAULT_INDEX": "https://b.example"}
    )

    assert found == {}


def test_pip_files_are_switched_off_by_devnull() -> None:
    """As pip documents it."""
    assert pip_settings.config_files({"PIP_CONFIG_FILE": "/dev/null"}) == []
