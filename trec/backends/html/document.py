"""The document of a page: markup, style, data and script in one file that asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import zlib
from typing import TYPE_CHECKING, Any

import msgspec

from trec.backends.escape import html
from trec.backends.html.bundle import markup, script, stylesheet

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = 2**16
_ESCAPES = str.maketrans({"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def lines(data: dict[str, Any], title: str, *, compressed: bool) -> Iterator[str]:
    """Yield the lines of a page, without line ends.

    The policy of the page names every script by its hash. What is compressed is put back together by a small script,
    the viewer as a script of its own, which runs because the policy knows it too.

    Args:
        data: what `trec.backends.html.data` makes.
        title: what the window is called.
        compressed: whether data and viewer are compressed; otherwise they can be read.

    Source: "Content Security Policy Level 3", W3C; "HTML Living Standard", contents of script elements.
    """
    style, viewer = f"\n{stylesheet()}", f"\n{script()}"
    scripts = [viewer, _LOADER] if compressed else [viewer]
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; style-src {_hash(style)};"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{html(title)}</title>"
    yield f"<style>{style}</style>\n</head>\n<body>"
    yield markup()
    text = msgspec.json.encode(data)
    if compressed:
        yield from _packed("data", text)
        yield from _packed("viewer", viewer.encode())
        yield f'<script type="module">{_LOADER}</script>\n</body>\n</html>'
    else:
        yield f'<script type="application/json" id="data">{text.decode().translate(_ESCAPES)}</script>'
        yield f'<script type="module">{viewer}</script>\n</body>\n</html>'


_LOADER = """
const block = document.getElementById("viewer");
const bytes = Uint8Array.from(atob(block.textContent), (letter) => letter.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
const viewer = document.createElement("script");
viewer.type = "module";
viewer.textContent = await new Response(stream).text();
block.replaceWith(viewer);
"""


def _packed(name: str, text: bytes) -> Iterator[str]:
    """Yield a block of compressed data in letters."""
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    letters = base64.b64encode(packer.compress(text) + packer.flush()).decode()
    yield f'<script type="application/octet-stream" id="{name}">'
    for start in range(0, len(letters), _LINE):
        yield letters[start : start + _LINE]
    yield "</script>"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
