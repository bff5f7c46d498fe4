from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Any

import pytest

from trec import registry
from trec.ir import types
from trec.ir.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable

METHODS = {
    **{name: ("pass", name) for name in registry.PASSES},
    **{f"to_{name}": ("backend", name) for name in registry.BACKENDS},
}


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any, str]]:
    """Return name, kind, default and type (written out, if it is a name of that module) of all but the graph."""
    _, *rest = inspect.signature(function).parameters.values()
    return [(item.name, item.kind, item.default, _spelled(function, item.annotation)) for item in rest]


def _spelled(function: Callable[..., Any], annotation: str) -> str:
    """Return an annotation in one spelling, with names of `Literal`s replaced by what they stand for."""
    literal = getattr(inspect.getmodule(function), annotation, getattr(types, annotation, None))
    if "Literal" in str(literal):
        annotation = str(literal).replace("typing.", "")
    return ast.unparse(ast.parse(annotation, mode="eval"))


@pytest.mark.parametrize("method", METHODS)
def test_a_method_has_the_signature_of_its_function(method: str) -> None:
    function = registry.resolve(*METHODS[method])
    assert parameters(getattr(Graph, method)) == parameters(function)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_names_the_function_that_it_calls(method: str) -> None:
    function = registry.resolve(*METHODS[method])
    assert f"`{function.__module__}.{function.__name__}`" in (getattr(Graph, method).__doc__ or "")


def test_every_suffix_leads_to_a_function_that_takes_a_path() -> None:
    for reference in registry.SUFFIXES.values():
        assert "path" in inspect.signature(registry.load(reference)).parameters
