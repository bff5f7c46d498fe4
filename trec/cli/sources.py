"""What passes and backends say of themselves, read from their source code: nothing of theirs is imported for it."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple


class Told(NamedTuple):
    """What a function says of itself."""

    summary: str
    """First line of its docstring."""
    options: list[str]
    """Its parameters but the graph and a path, each as it is written, without annotations."""
    more: bool = False
    """Whether it takes further options by name."""


def told(reference: str) -> Told:
    """Return what the function behind a reference such as `package.module:function` says of itself.

    Where no source code is found, it says nothing.
    """
    module, _, name = reference.partition(":")
    try:
        found = find_spec(module)
        tree = ast.parse(Path(found.origin).read_text(encoding="utf-8")) if found and found.origin else ast.parse("")
    except (ImportError, OSError, SyntaxError, UnicodeError, ValueError):
        return Told("", [])
    for statement in reversed(tree.body):  # overloads stand before what they are for
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            summary = (ast.get_docstring(statement) or "").partition("\n")[0]
            return Told(summary, _options(statement.args), statement.args.kwarg is not None)
    return Told("", [])


def _options(arguments: ast.arguments) -> list[str]:
    plain = arguments.args[1:]
    defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    pairs = [*zip(plain, defaults[-len(plain) :] if plain else [], strict=True)]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [
        argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}"
        for argument, default in pairs
        if argument.arg != "path"
    ]
