"""Where passes and backends are found by name: the built-in ones here, those of others by entry points."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from trec.errors import DependencyError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

PASSES = {
    "collapse": "trec.passes.collapse:collapse",
    "focus": "trec.passes.focus:focus",
    "fold": "trec.passes.fold:fold",
    "hide": "trec.passes.hide:hide",
    "level": "trec.passes.level:level",
    "phase": "trec.passes.phase:phase",
    "prune": "trec.passes.prune:prune",
    "relabel": "trec.passes.relabel:relabel",
    "rename": "trec.passes.rename:rename",
    "roll": "trec.passes.roll:roll",
    "tensors": "trec.passes.tensors:tensors",
}
"""Name of each built-in pass, which is also its method on `Graph`, and where its function is."""

BACKENDS = {
    "cytoscape": "trec.backends.cytoscape:to_cytoscape",
    "dot": "trec.backends.dot:to_dot",
    "gexf": "trec.backends.gexf:to_gexf",
    "graphml": "trec.backends.graphml:to_graphml",
    "graphviz": "trec.backends.graphviz:to_graphviz",
    "html": "trec.backends.html.page:to_html",
    "json": "trec.ir.serialize:to_json",
    "mermaid": "trec.backends.mermaid:to_mermaid",
    "model_explorer": "trec.backends.model_explorer:to_model_explorer",
    "networkx": "trec.backends.networkx:to_networkx",
    "pdf": "trec.backends.pdf:to_pdf",
    "png": "trec.backends.png:to_png",
    "pydot": "trec.backends.pydot:to_pydot",
    "sigma": "trec.backends.sigma:to_sigma",
    "svg": "trec.backends.svg:to_svg",
    "table": "trec.backends.table:to_table",
    "tikz": "trec.backends.tikz:to_tikz",
}
"""Name of each built-in backend (its method on `Graph` is `to_<name>`) and where its function is."""

SUFFIXES = {
    ".trec": "trec.ir.serialize:save",
    ".json": "trec.ir.serialize:save",
    ".sigma.json": BACKENDS["sigma"],
    ".cyto.json": BACKENDS["cytoscape"],
    ".me.json": BACKENDS["model_explorer"],
    ".gexf": "trec.backends.gexf:write",
    ".graphml": "trec.backends.graphml:write",
    ".csv": BACKENDS["table"],
    ".dot": BACKENDS["dot"],
    ".gv": BACKENDS["dot"],
    ".svg": BACKENDS["svg"],
    ".png": BACKENDS["png"],
    ".pdf": BACKENDS["pdf"],
    ".html": "trec.backends.html.page:write",
    ".mmd": BACKENDS["mermaid"],
    ".tex": BACKENDS["tikz"],
}
"""Suffix of a file name, and the function that writes such a file: it takes the graph and `path`."""

_BUILT_IN = {"pass": PASSES, "backend": BACKENDS}
_GROUPS = {"pass": "trec.passes", "backend": "trec.backends"}


@cache
def load(reference: str) -> Callable[..., Any]:
    """Return the function that a reference such as `package.module:function` names."""
    module, _, path = reference.partition(":")
    found: Any = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    function: Callable[..., Any] = found
    return function


def resolve(kind: str, found: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the pass or backend of that name; a function is one itself.

    Args:
        kind: `pass` or `backend`.
        found: a function; or the name of a built-in one, or of one that an installed package offers under the entry
            point group `trec.passes` or `trec.backends`. Of two of one name the built-in one is meant.

    Raises:
        OptionError: there is none of that name, or several packages offer one, or it is no function.
        DependencyError: it cannot be imported.
    """
    if not isinstance(found, str):
        if callable(found):
            return found
        raise OptionError(f"a {kind} is given as a function or by name, not as {found!r}")
    place = reference(kind, found)
    if found in _BUILT_IN[kind]:
        return load(place)
    places = _plugins(kind)[found]
    if len(places) > 1:
        raise OptionError(
            f"several packages offer a {kind} named {found!r}: {', '.join(places)}; uninstall all but one"
        )
    try:
        function = load(place)
    except (ImportError, AttributeError) as error:
        raise DependencyError(
            f"the {kind} {found!r} of an installed package cannot be imported from {place}: {error}; "
            "install what it needs, or another version of it"
        ) from error
    if not callable(function):
        raise OptionError(f"the {kind} {found!r} of an installed package is no function: {place} is {function!r}")
    return function


def reference(kind: str, name: str) -> str:
    """Return where the pass or backend of that name is, as `package.module:function`; nothing of it is imported.

    Raises:
        OptionError: there is none of that name.
    """
    built_in = _BUILT_IN[kind]
    if name in built_in:
        return built_in[name]
    plugins = _plugins(kind)
    if name in plugins:
        return plugins[name][0]
    known = ", ".join(sorted({*built_in, *plugins}))
    raise OptionError(f"there is no {kind} named {name!r}; known are: {known}")


def names(kind: str) -> tuple[str, ...]:
    """Return the names of all passes or all backends, built in and installed, sorted."""
    return tuple(sorted({*_BUILT_IN[kind], *_plugins(kind)}))


@cache
def _plugins(kind: str) -> dict[str, tuple[str, ...]]:
    """Return the names that installed packages offer, each with the places that it stands for; there should be one."""
    from importlib.metadata import entry_points  # slow to import, and needed only where a plugin is asked for

    places: dict[str, dict[str, None]] = {}
    for point in entry_points(group=_GROUPS[kind]):
        places.setdefault(point.name, {})[f"{point.module}:{point.attr}"] = None
    return {name: tuple(sorted(found)) for name, found in places.items()}
