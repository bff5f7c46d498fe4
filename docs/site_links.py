"""What the site does with links out of `docs`: the files of `examples` are taken in, others are named by their path."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
TAKEN_IN = ("*.py", "output/*")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(((?:\.\./)+[^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the examples and what they wrote."""
    for pattern in TAKEN_IN:
        for path in sorted((ROOT / "examples").glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Turn links to what the site does not hold into words."""
    folder = posixpath.dirname(page.file.src_uri)

    def changed(match: re.Match[str]) -> str:
        mark, words, link = match.groups()
        target = posixpath.normpath(posixpath.join("docs", folder, link.partition("#")[0]))
        if target.startswith("docs/"):
            return match[0]
        if files.get_file_from_path(target):
            return f"{mark}[{words}]({posixpath.relpath(target, folder or '.')})"
        return f"{words} (`{target}`)" if posixpath.basename(target) not in words else f"`{target}`"

    return _LINK.sub(changed, markdown)
