"""Draw the pictures of the gallery anew, by the code that it shows: `python docs/make_gallery.py [folder]`.

A section whose model is from a library that is not installed is left out.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parent / "gallery" / "index.md"
_CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections(page: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the heading of each section with the code that is in it."""
    for section in page.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        yield heading, _CODE.findall(body)


def draw(code: list[str]) -> None:
    """Run the code of one section, which writes its pictures into the working directory."""
    namespace: dict[str, Any] = {"__name__": "gallery"}
    for block in code:
        exec(compile(block, str(PAGE), "exec"), namespace)


def main() -> None:
    """Write the pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE.parent
    folder.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(PAGE.parents[2]))
    os.chdir(folder)
    for heading, code in sections(PAGE.read_text(encoding="utf-8")):
        try:
            draw(code)
        except ModuleNotFoundError as error:
            sys.stderr.write(f"{heading} is left out: {error.name} is not installed\n")


if __name__ == "__main__":
    main()
