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

    Args:
        data: what `trec.backends.html.data` makes.
        title: what the window is called.
        compressed: whether the data is compressed; otherwise it is JSON that can be read.

    Source: "Content Security Policy Level 3", W3C; "HTML Living Standard", contents of script elements.
    """
    style, code = f"\n{stylesheet()}", f"\n{script()}"
    policy = (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(style)}; img-src data: blob:;"
        " base-uri 'none'; form-action 'none'"
    )
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{html(title)}</title>"
    yield f"<style>{style}</style>\n</head>\n<body>"
    yield markup()
    yield from _block(data, compressed=compressed)
    yield f'<script type="module">{code}</script>\n</body>\n</html>'


def _block(data: dict[str, Any], *, compressed: bool) -> Iterator[str]:
    text = msgspec.json.encode(data)
    if compressed:
        packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
        letters = base64.b64encode(packer.compress(text) + packer.flush()).decode()
        yield '<script type="application/octet-stream" data-encoding="deflate">'
        for start in range(0, len(letters), _LINE):
            yield letters[start : start + _LINE]
    else:
        yield '<script type="application/json" data-encoding="json">'
        yield text.decode().translate(_ESCAPES)
    yield "</script>"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
