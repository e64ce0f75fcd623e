"""axe-core, which finds what keeps people from using a page (README.md says where it comes from)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent / "axe.min.js.gz"
_RUN = """axe.run(document, {resultTypes: ['violations']}).then(found => ({
    passes: found.passes.length,
    violations: found.violations.flatMap(one => one.nodes.map(node => `${one.impact} ${one.id}: ${node.html.slice(0, 200)}`)),
}))"""


def violations(page: Any) -> list[str]:
    """What axe finds on a page of playwright's, with all that can be opened there open.

    Raises:
        AssertionError: It checked nothing.
    """
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.evaluate("document.querySelectorAll('.fold button').forEach(one => one.click())")
    page.evaluate(f"{gzip.decompress(_FILE.read_bytes()).decode()}; 0")
    found = page.evaluate(_RUN)
    assert found["passes"] > 10
    return list(found["violations"])
