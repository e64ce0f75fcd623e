"""Frameworks without Keras."""

from __future__ import annotations

from dlprof.backends import native, registry


def test_native_backends_share_the_environment_of_the_framework() -> None:
    """And have no KERAS_BACKEND."""
    spec = registry.get("native-torch")

    assert (spec.environment_of, spec.keras_backend, spec.lock) == ("torch", "", registry.get("torch").lock)


def test_every_native_backend_is_one_by_its_name_and_has_no_keras() -> None:
    """The name is what tells the script that stands in for another."""
    assert [spec.name for spec in native.SPECS if not spec.name.startswith("native-") or spec.keras_backend] == []
