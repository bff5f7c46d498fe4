"""Where a command writes a graph to, and how it looks there: the same options for every command that writes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from trec import registry
from trec.backends.options import Rankdir, Shapes, Tensors
from trec.backends.style import Style, chosen
from trec.backends.write import suffix_of
from trec.cli import formats
from trec.cli.terminal import note, working
from trec.cli.words import assignment, one_of
from trec.errors import OptionError
from trec.ir.atomic import write_bytes

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser
    from trec.ir.graph import Graph

STDOUT = "-"
_LOOK = (
    "rankdir",
    "tensors",
    "shapes",
    "params",
    "title",
    "caption",
    "legend",
    "links",
    "wrap",
    "scale",
    "engine",
)


class Target(NamedTuple):
    """What is to be written."""

    path: str
    """The file, or `-`."""
    format: str | None
    """The format that was asked for by name."""
    suffix: str
    """Suffix of the format; empty for a backend whose files have none."""
    options: dict[str, Any]
    """What the backend is told."""
    passes: frozenset[str]
    """Passes that the backend does itself: `depth` or `fold`."""


def add(parser: Parser, *, default: str = "") -> None:
    """Add the options that say where to write, and how it looks.

    Args:
        parser: what to add to.
        default: what happens without `-o`, for the help; without it, `-o` must be given.
    """
    parser.add_argument(
        "-o",
        "--output",
        required=not default,
        metavar="FILE",
        help=f"where to write; - for standard output{'; ' + default if default else ''}",
    )
    add_format(parser)
    group = parser.add_argument_group("how a picture looks")
    option = group.add_argument
    option("--theme", metavar="NAME", help="light (default), dark or paper")
    option(
        "--colour-by",
        "--color-by",
        metavar="FACT",
        help="what colours stand for: family (default), kind, class, module, dtype, params, flops or memory",
    )
    option("--label", metavar="TEMPLATE", help="titles of boxes, such as '{name} {shape}'")
    for name, words, what in (
        ("rankdir", get_args(Rankdir), "where the flow goes"),
        ("tensors", get_args(Tensors), "shapes along the edges, tensors as boxes, or neither"),
        ("shapes", get_args(Shapes), "which shapes are written along the edges"),
    ):
        option(f"--{name}", type=one_of(words), choices=words, help=f"{what}; the first when left out")
    option("--params", action="store_const", const=True, help="draw parameters and buffers")
    option("--title", metavar="TEXT", help="text above the picture")
    option("--caption", action="store_const", const=True, help="name, depth and number of parameters below it")
    option("--legend", action="store_const", const=True, help="what the colours mean")
    option("--links", metavar="ADDRESS", help="where boxes lead: 'vscode://file/{file}:{line}'")
    option("--wrap", type=float, metavar="POINTS", help="longest column of boxes; a longer one goes on beside itself")
    option("--scale", type=float, metavar="PIXELS", help="pixels for each point, for PNG")
    option("--engine", type=one_of(("own", "dot")), choices=("own", "dot"), help="what places the boxes, for SVG")


def add_format(parser: Parser) -> None:
    """Add the options that say which format, and what of it."""
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="suffix or backend, such as svg or mermaid; when left out, what the file name says",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=assignment,
        metavar="NAME=VALUE",
        help="any other option of the backend, such as layout=true; trec backends lists them",
    )


def target(path: str, options: Namespace) -> Target:
    """Return what is to be written, as far as it is known before there is a graph.

    Raises:
        OptionError: the format is not known, or does not take an option; or there is no folder to write into.
    """
    name = options.format
    if name is None and path == STDOUT:
        raise OptionError("standard output has no name that tells the format; say it, such as --format svg")
    suffix = suffix_of(path) if name is None else formats.suffix_of_format(name)
    given = _given(options)
    known = formats.takes(suffix or name)
    formats.check(suffix or name, known, given)
    folder = os.path.dirname(path)
    if path != STDOUT and folder and not os.path.isdir(folder):
        raise OptionError(f"there is no folder {folder!r} to write {os.path.basename(path)!r} into")
    own = _own_passes(options).keys() & set(known or ())
    return Target(path, name, suffix, {**{key: _own_passes(options)[key] for key in own}, **given}, frozenset(own))


def write(graph: Graph, to: Target) -> None:
    """Write a graph to a file, or to standard output."""
    shown = "standard output" if to.path == STDOUT else to.path
    with working(f"writing {shown}"):
        if to.format is None:
            registry.load(registry.SUFFIXES[to.suffix])(graph, path=to.path, **to.options)
        else:
            suffix = to.suffix + (".gz" if to.suffix and to.path.endswith(".gz") else "")
            _write_bytes(to.path, formats.made(graph, suffix, to.format, to.options))
    note(f"{shown}: {graph.name}, {len(graph.nodes):,} nodes")


def _write_bytes(path: str, data: bytes) -> None:
    if path != STDOUT:
        write_bytes(path, data)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _own_passes(options: Namespace) -> dict[str, Any]:
    """Return the passes that some backends do themselves, since they show more than one state of a graph."""
    found = {"depth": getattr(options, "depth", None), "fold": getattr(options, "fold", False) or None}
    if getattr(options, "keep", None) or getattr(options, "only", None):
        del found["depth"]
    return {name: value for name, value in found.items() if value is not None}


def _given(options: Namespace) -> dict[str, Any]:
    """Return the options of a backend that were given, by name."""
    given = {name: getattr(options, name, None) for name in _LOOK}
    found = {name: value for name, value in given.items() if value is not None}
    theme, colour_by, label = (getattr(options, name, None) for name in ("theme", "colour_by", "label"))
    if colour_by or label:
        found["style"] = Style(theme=chosen(theme).theme, colour_by=colour_by or "family", label_node=label)
    elif theme:
        found["style"] = theme
    return {**found, **dict(options.option)}
