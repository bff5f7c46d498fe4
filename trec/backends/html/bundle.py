"""The viewer as one script: its modules one after the other, each in a block of its own."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class)|const) (\[[^\]]*\]|[\w$]+)", re.MULTILINE)
_NOTHING = re.compile(r"^export \{\};\n", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)\n", re.MULTILINE)
_MAIN, _START = "main.js", "start"


@cache
def script() -> str:
    """Return the viewer as one module that imports nothing, without comments, and starts itself.

    What modules import of others are variables of the whole, so that each has a name of its own; all else stays within
    the block of its module.
    """
    modules: dict[str, str] = {}
    _add(_MAIN, modules)
    wanted = {(_MAIN, _START)}.union(*(_imported(path, text) for path, text in modules.items()))
    given = {path: _given(text, {name for module, name in wanted if module == path}) for path, text in modules.items()}
    lost = wanted - {(path, name) for path, some in given.items() for name in some}
    if lost:
        raise AssertionError(f"no module gives {', '.join(sorted(name for _, name in lost))}")
    names = sorted(name for some in given.values() for name in some)
    if len(names) > len(set(names)):
        twice = {name for name in names if names.count(name) > 1}
        raise AssertionError(f"several modules give others {', '.join(sorted(twice))}")
    blocks = [_block(path, text, given[path]) for path, text in modules.items()]
    places = 'document.querySelector(".page"), document.getElementById("data")'
    return f"let {', '.join(names)};\n{''.join(blocks)}globalThis.trec = await {_START}({places});\n"


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
    found[path] = text


def _imported(path: str, text: str) -> set[tuple[str, str]]:
    """Return the modules and names that a module imports."""
    imports = _IMPORT.findall(text)
    return {(_resolved(path, target), name) for names, target in imports for name in re.findall(r"[\w$]+", names)}


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


def _given(text: str, wanted: set[str]) -> set[str]:
    """Return what a module gives others that want some names; names that are made together are given together."""
    made = [set(re.findall(r"[\w$]+", names)) for _, names in _EXPORT.findall(text)]
    return set().union(*(names for names in made if names & wanted))


def _block(path: str, text: str, given: set[str]) -> str:
    """Return a module as a block that puts what it gives others into the variables of these names."""

    def put(found: re.Match[str]) -> str:
        kind, names = found.groups()
        if given.isdisjoint(re.findall(r"[\w$]+", names)):
            return f"{kind} {names}"
        return f";{names}" if kind == "const" else f";{names} = {kind} {names}"

    body = _EXPORT.sub(put, _IMPORT.sub("", _NOTHING.sub("", text)))
    if "</script" in body or "<!--" in body:
        raise AssertionError(f"{path} would end the script that it is in")
    return f"{{\n{body}}}\n"
