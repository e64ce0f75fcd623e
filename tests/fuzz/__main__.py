"""Fuzzes a reader of foreign files with atheris, for as long as one likes; not part of the tests.

    pip install atheris
    python -m tests.fuzz xspace -max_total_time=3600
    python -m tests.fuzz kineto fuzz-corpus/kineto -runs=1000000

READER is one of those in `dlprof import --help`; all else goes to libFuzzer: folders of a corpus, `-runs`,
`-max_total_time`, `-artifact_prefix`, a file to try again. The files in tests/data/traces are the first corpus. What the
reader takes is also attributed and summed. A crash is whatever comes out besides the readers' own error.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path

try:
    import atheris
except ImportError:
    sys.exit("atheris is not installed: pip install atheris")

with atheris.instrument_imports(include=["dlprof.ingest"]):
    from dlprof.ingest.artifact import ArtifactError, ProcessId
    from dlprof.ingest.formats import registry as formats
    from dlprof.ingest.formats.base import Reader
    from dlprof.ingest.kernels import assemble
    from dlprof.ingest.kernels.context import TraceContext
    from dlprof.ingest.parse import chrome, chrome_tables

SEEDS = Path(__file__).parents[1] / "data" / "traces"
SIZE_AT_MOST = 200_000


def corpus(reader: Reader, folder: Path) -> Path:
    """A folder with the files of the test data that the reader takes, unpacked."""
    for path in SEEDS.iterdir():
        if path.suffix != ".md" and formats.find(path).name == reader.name:
            content = path.read_bytes()
            content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
            (folder / path.name).write_bytes(content[:SIZE_AT_MOST])
    return folder


def main() -> None:
    """Fuzz the reader that the first argument names."""
    readers = {reader.name: reader for reader in formats.all_readers()}
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in readers:
        sys.exit(f"{__doc__}\nREADER must be one of: {', '.join(readers)}")
    reader = readers[name]
    # Small, so that small inputs are cut as large ones are.
    chrome.PIECE_BYTES, chrome_tables.BLOCK_BYTES = 4096, 8192
    with tempfile.TemporaryDirectory(prefix="dlprof-fuzz-") as place:
        file = Path(place, "input")

        def one_input(data: bytes) -> None:
            file.write_bytes(data)
            try:
                found = reader.read(file)
                if found.trace is not None:
                    assembly = assemble.Assembly()
                    assembly.add(found.trace, TraceContext(ProcessId("host", 0, 1, 0), 0, 0))
                    assembly.tables()
            except ArtifactError:
                pass

        first = Path(place, "seeds")
        first.mkdir()
        given = sys.argv[2:]
        folders = [] if any(Path(argument).is_file() for argument in given) else [str(corpus(reader, first))]
        atheris.Setup([sys.argv[0], f"-max_len={SIZE_AT_MOST}", *given, *folders], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
