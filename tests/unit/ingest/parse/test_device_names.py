"""Devices as tools of CUDA call them."""

from __future__ import annotations

from dlprof.ingest.parse.device_names import DeviceNames


def test_a_number_in_the_name_counts_and_other_names_are_numbered_as_they_come() -> None:
    """Two devices of one sort stay two."""
    names = DeviceNames()

    assert [names.number(text) for text in ("V100 (1)", "V100 (0)", "V100 (1)")] == [1, 0, 1]
    assert names.facts() == [{"device": 0, "name": "V100"}, {"device": 1, "name": "V100"}]
    assert DeviceNames().number("Tesla P100-PCIE") == 0
