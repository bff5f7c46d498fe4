"""Make any text safe for a format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SPECIAL = re.compile("[^ !#$%'-;=?-\\[\\]-~\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLAIN = bytes([code for code in range(128) if _SPECIAL.match(chr(code)) is None])
"""What ASCII stands for itself."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_QUOTED = {**_ENTITIES, "\\": "\\\\", "\n": "\\n", "\t": " ", "\x7f": "\x7f"}
_XML = re.compile(f'{_FORBIDDEN.pattern}|[&<>"\n\r\t\x85\u2028]')
_REFERENCES = {**_ENTITIES, "\n": "&#10;", "\r": "&#13;", "\t": "&#9;", "\x85": "&#133;", "\u2028": "&#8232;"}
_HTML = {**_ENTITIES, "\\": "\\\\", "\n": "<BR/>", "\t": " ", "\x7f": "\x7f"}


def printable(text: str) -> str:
    """Return the text with every character that XML 1.0 forbids replaced by U+FFFD.

    Source: Extensible Markup Language (XML) 1.0, 5th edition, section 2.2, production Char.
    """
    return _FORBIDDEN.sub("\ufffd", text)


def quoted(text: str) -> str:
    """Return the text as what stands between double quotes in DOT, where it is shown as it is.

    Entities stand for `&<>"`, so no reader can take the result for an HTML-like label or for an escape sequence.

    Source: the DOT language and escString in the documentation of Graphviz.
    """
    if _SPECIAL.search(text) is None:
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SPECIAL.sub(lambda found: _QUOTED.get(found[0], "\ufffd"), text)


def all_quoted(texts: Sequence[str]) -> Sequence[str]:
    """Return texts as `quoted` returns each of them."""
    together = "".join(texts)
    if together.isascii() and not together.encode().translate(None, _PLAIN):  # ten times as fast as to search
        return texts
    return texts if _SPECIAL.search(together) is None else [quoted(text) for text in texts]


def html(text: str) -> str:
    """Return the text as the content of an element of an HTML-like label; never empty, which Graphviz refuses.

    Source: "Node Shapes: HTML-Like Labels" in the documentation of Graphviz.
    """
    if _SPECIAL.search(text) is not None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = _SPECIAL.sub(lambda found: _HTML.get(found[0], "\ufffd"), text)
    if not text or text.isspace():
        return "&#160;"
    return text


def xml(text: str) -> str:
    """Return the text as the content of an element or the value of an attribute of XML, line ends kept.

    U+0085 and U+2028 are references too, because some readers take them for line ends, as XML 1.1 does.

    Source: Extensible Markup Language (XML) 1.0, 5th edition, sections 2.11 and 3.3.3.
    """
    return text if _XML.search(text) is None else _XML.sub(lambda found: _REFERENCES.get(found[0], "\ufffd"), text)
