"""What a package says of itself where its files are not beside it: the README with links that work there, and the URLs.

The one setting is `address` below [tool.hatch.metadata.hooks.custom] in pyproject.toml: the address of the repository.
With it, links and pictures of the README lead there. Without it they would lead nowhere, so links become words and
pictures are left out, and the package names no URL.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#)([^)\s]+)\)")


def elsewhere(text: str, address: str) -> str:
    """The README as it is read away from the repository."""
    home = address.rstrip("/")

    def link(found: re.Match[str]) -> str:
        mark, words, path = found.groups()
        if not home:
            return "" if mark else words
        return f"{mark}[{words}]({home}/{'raw' if mark else 'blob'}/main/{path})"

    return re.sub(r"\n{3,}", "\n\n", LINK.sub(link, text))


class ReadmeHook(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling."""
        address = self.config.get("address", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": elsewhere(text, address)}
        if address:
            metadata["urls"] = {
                "Source": address,
                "Documentation": f"{address}/blob/main/docs/index.md",
                "Changes": f"{address}/blob/main/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }
