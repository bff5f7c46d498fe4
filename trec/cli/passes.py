"""The options that rewrite a graph, the same for every command that looks at one."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from trec.analysis.selectors import nodes as selected
from trec.cli.words import literal, natural
from trec.errors import OptionError

if TYPE_CHECKING:
    from argparse import Namespace, _ArgumentGroup
    from collections.abc import Collection

    from trec.ir.graph import Graph

COLLAPSE = "levels of modules to keep open; 0 makes the whole model one box"
SHORT = {"params": "kind:param or kind:buffer"}
"""Selectors that have a name for --hide."""


def add(group: _ArgumentGroup, *, depth: str) -> None:
    """Add the options of passes.

    Args:
        group: what to add to.
        depth: what `--depth` does, for the help.
    """
    option = group.add_argument
    option(
        "--focus",
        action="append",
        default=[],
        metavar="SELECTOR",
        help="only these nodes, such as layers.3 or 'op:conv* and not in:head'",
    )
    option("--steps", type=natural, metavar="N", help="with --focus: and what is up to N uses of a tensor away")
    option("--to", metavar="SELECTOR", help="with --focus: and what lies between these nodes and those")
    option("--prune", action="store_true", help="without operators that nothing depends on")
    option("--fold", action="store_true", help="equal blocks that follow one another as one that counts")
    option("--roll", action="store_true", help="one call of a module for many, one iteration of a loop for all")
    option("--depth", type=natural, metavar="N", help=depth)
    option("--keep", action="append", default=[], metavar="SELECTOR", help="modules that --depth leaves open")
    option("--only", action="append", default=[], metavar="SELECTOR", help="close these modules and no others")
    option(
        "--hide",
        action="append",
        default=[],
        metavar="SELECTOR",
        help="without these nodes, such as is:view; params stands for parameters and buffers",
    )
    option(
        "--pass",
        action="append",
        dest="passes",
        default=[],
        type=named_pass,
        metavar="NAME[:OPTION=VALUE,...]",
        help="any other pass, such as tensors:which=all; in the order given, after those above",
    )


def named_pass(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a pass.

    Raises:
        ArgumentTypeError: the text is of another form.

    Example:
        >>> named_pass("tensors:which=all")
        ('tensors', {'which': 'all'})
    """
    name, _, rest = text.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, sign, value = part.partition("=")
        if not sign:
            raise ArgumentTypeError(f"{text!r} is not of the form name:option=value,option=value")
        options[key.strip()] = literal(value)
    return name, options


def check(options: Namespace) -> None:
    """Refuse options that belong to another one, which is missing.

    Raises:
        OptionError: there is one.
    """
    for name, needed in (("steps", "focus"), ("to", "focus"), ("keep", "depth")):
        if getattr(options, name) not in (None, []) and getattr(options, needed) in (None, []):
            raise OptionError(f"--{name} says more about --{needed}, which is not given")


def applied(graph: Graph, options: Namespace, *, but: Collection[str] = ()) -> Graph:
    """Return the graph with the passes that the options ask for, in the order in which help lists them.

    Args:
        graph: what was read or recorded.
        options: what was parsed.
        but: passes that are left to the caller: `depth` or `fold`.

    Raises:
        OptionError: a selector selects nothing, or a pass does not take an option.
    """
    if options.level is not None:
        graph = graph.level(options.level)
    if options.focus:
        for selector in options.focus:
            selected(graph, selector, option="--focus")
        graph = graph.focus(options.focus, to=options.to, steps=options.steps or 0)
    if options.prune:
        graph = graph.prune()
    hidden = [SHORT.get(selector, selector) for selector in options.hide]
    for selector in hidden:
        selected(graph, selector, option="--hide", missing_ok=selector in SHORT.values())
    if options.fold and "fold" not in but:
        graph = graph.fold()
    if options.roll:
        graph = graph.roll()
    depth = None if "depth" in but else options.depth
    if depth is not None or options.only:
        graph = graph.collapse(depth=depth, only=options.only, keep=options.keep)
    if hidden:  # last, so that closed modules count what they hold
        graph = graph.hide(hidden, missing_ok=True)
    for name, given in options.passes:
        graph = _other(graph, name, given)
    return graph


def _other(graph: Graph, name: str, given: dict[str, Any]) -> Graph:
    try:
        return graph.apply(name, **given)
    except TypeError as error:  # what the pass does not take
        raise OptionError(f"the pass {name} cannot be applied so: {error}; trec passes tells what it takes") from error
