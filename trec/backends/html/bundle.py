"""The viewer as one script: its modules one after the other, each in a function of its own."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function\*?|class|const) (\[[^\]]*\]|[\w$]+)", re.MULTILINE)
_NOTHING = re.compile(r"^export \{\};\n", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)\n", re.MULTILINE)
_MAIN = "main.js"


@cache
def script() -> str:
    """Return the viewer as one module that imports nothing, without comments, and starts itself."""
    found: dict[str, str] = {}
    _add(_MAIN, found)
    text = "\n".join(found.values())
    places = 'document.querySelector(".page"), document.getElementById("data")'
    return f"{text}\nglobalThis.trec = await {_variable(_MAIN)}.start({places});\n"


@cache
def stylesheet() -> str:
    """Return the style sheet of the page."""
    return _source("page.css")


@cache
def markup() -> str:
    """Return what is in the body of the page, without data and scripts."""
    return _source("page.html").removesuffix("\n")


def _source(path: str) -> str:
    return (files("trec.backends.html") / "viewer" / path).read_text(encoding="utf-8")


def _add(path: str, found: dict[str, str]) -> None:
    """Add a module behind those that it imports."""
    if path in found:
        return
    text = _COMMENT.sub("", _source(path))
    for _, target in _IMPORT.findall(text):
        _add(_resolved(path, target), found)
    found[path] = _wrapped(path, text)


def _resolved(path: str, target: str) -> str:
    """Return the path of an imported module, from that of the module that imports it.

    Example:
        >>> _resolved("layout/arrange.js", "./text.js"), _resolved("layout/text.js", "../graph.js")
        ('layout/text.js', 'graph.js')
    """
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _variable(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))


def _wrapped(path: str, text: str) -> str:
    """Return a module as a function that returns what it exports."""
    names = [name for found in _EXPORT.findall(text) for name in re.findall(r"[\w$]+", found)]
    body = _NOTHING.sub("", text)
    body = _IMPORT.sub(
        lambda found: f"const {{{_renamed(found[1])}}} = {_variable(_resolved(path, found[2]))};\n", body
    )
    body = re.sub(r"^export (?=async|function|class|const)", "", body, flags=re.MULTILINE)
    if "</script" in body or "<!--" in body:
        raise AssertionError(f"{path} would end the script that it is in")
    return f"const {_variable(path)} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();"


def _renamed(names: str) -> str:
    """Return imported names as they are taken out of an object: `a as b` is `a: b` there."""
    return re.sub(r"\s+as\s+", ": ", names)
