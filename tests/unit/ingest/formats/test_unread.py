"""What is said of files of other tools that no reader reads."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import registry


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.nsys-rep", b"\x00\x01", "nsys export --type sqlite"),
        ("a.ncu-rep", b"\x00\x01", "Nsight Compute"),
        ("events.out.tfevents.17.vm", b"\x18\x00", r"\*.xplane.pb"),
        ("vm.overview_page.pb", b"\x0a\x02", "xplane.pb beside it"),
        ("perf.data", b"PERFILE2\x68", "perf report"),
        (
            "perf.txt",
            b"python  3085 38621.473142:     250000 cpu-clock:ppp: \n\t  1462a f+0xa (ld.so)\n",
            "perf script",
        ),
        ("m.bin", b'\x04"M\x18@\xc0\x1e7\x00\x00\xfamemray\r\x00', "capture of memray"),
        ("flame.svg", b'<?xml version="1.0"?><svg width="1">', "picture"),
        ("p.html", b"\n<!DOCTYPE html>\n<html>", "web page"),
        ("p.json", b'{"start_time": 1.5,"duration": 0.4,"sample_count": 2,"target_description": "x"', "-r speedscope"),
        ("s.json", b'{"alloc_samples": 0, "args": []', "Scalene"),
        ("c.out", b"version: 1\ncreator: yappi\n", "callgrind"),
        ("p.txt", b"         75 function calls in 0.473 seconds\n", "cProfile prints"),
        ("t.txt", b"----  ----\n  Name    Self CPU %\n", "export_chrome_trace"),
        ("d.txt", b"\nProfile Statistics:\n", "profiler.dump"),
        ("m.json", b"[[1795974418098282, 1795974418098282, 1795974418098457]", "export_memory_timeline"),
        ("s.csv", b"Time (%),Total Time (ns),Instances\n1,2,3\n", "nsys export"),
        ("smi.txt", b"+----+\n| NVIDIA-SMI 550.54  Driver |\n", "--query-gpu"),
        ("a.mojo", b"MOJ\x03", "austin2speedscope"),
        ("memory.prof", b"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x07", "pprof -top"),
        ("node.cpuprofile", b'{\n  "nodes": [\n    {"id": 1, "callFrame": {', "JavaScript"),
        ("s.pickle", pickle.dumps({"segments": [], "device_traces": []}), "memory_viz"),
        ("x.pickle", pickle.dumps({"a": 1}), "only those of line_profiler"),
    ],
)
def test_a_file_of_a_commonplace_tool_is_named(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    """With what to import in its place, or what shows it."""
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(ArtifactError, match=said):
        registry.find(path)
