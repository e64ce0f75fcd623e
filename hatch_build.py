"""What hatchling asks for when it builds: the README as the page of a package index can show it.

There a link to a file of the repository leads nowhere. Where `[project.urls]` of pyproject.toml has `Repository`, links
and pictures are made absolute, to the tag of the version; until it has, they become plain text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_ELSEWHERE = ("https://", "http://", "mailto:", "#")


def for_index(text: str, repository: str | None, version: str) -> str:
    """A page in Markdown without relative links.

    Args:
        text: The page, which lies at the root of the repository.
        repository: Address of the repository on a forge that shows files at `blob/TAG/` and has them raw at `raw/TAG/`,
            as GitHub, GitLab and others do; None: it has none yet.
        version: The tag is `vVERSION`.
    """

    def told(link: re.Match[str]) -> str:
        if link["target"].startswith(_ELSEWHERE):
            return link[0]
        if repository is None:
            return "" if link["picture"] else link["text"]
        kind = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['text']}]({repository.rstrip('/')}/{kind}/v{version}/{link['target']})"

    return _LINK.sub(told, text)


class ReadmeHook(MetadataHookInterface):
    """Fills the field `readme` of the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called with what `[project]` says."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        told = for_index(text, repository, str(metadata["version"]))
        metadata["readme"] = {"content-type": "text/markdown", "text": told}
