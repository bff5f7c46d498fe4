"""What the colours of operators and modules stand for, and the legend that says so."""

from __future__ import annotations

from collections import Counter
from math import log10
from typing import TYPE_CHECKING, NamedTuple

from trec.analysis.sizes import elements, size_bytes
from trec.backends import labels
from trec.backends.changes import CHANGES, change_of, change_of_box, changes_of_arrows, shows_diff
from trec.backends.families import FAMILIES
from trec.backends.themes import Paint

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from trec.backends.families import Family
    from trec.backends.style import Style
    from trec.ir.graph import Graph
    from trec.ir.types import Node

_STEPS = 5
"""Colours of a scale that its legend shows."""
_WIDE = 30.0
"""Ratio of the greatest number to the least from which a scale counts by orders of magnitude."""
_DARK_INKS, _LIGHT_INKS = ("#3c4654", "#1b2430", "#000000"), ("#e4e9f0", "#ffffff")
"""Colours of text on a scale: for details, for names, and where those are too close to what is behind them."""
_MIDDLE = 0.179
"""Luminance on which black and white text can be read alike."""
_READ = 4.5
"""Least contrast ratio of text."""
_COLOURED = ("op", "module")


class Key(NamedTuple):
    """One line of a legend."""

    text: str
    paint: Paint


class Colouring(NamedTuple):
    """Colours of nodes that differ from those of their families."""

    paints: dict[int, Paint]
    """By index of the node."""
    title: str
    """What the colours stand for; empty for families."""
    keys: tuple[Key, ...]


def colouring(graph: Graph, style: Style, nodes: Sequence[int]) -> Colouring:
    """Return what the style makes of the nodes that are drawn.

    Args:
        graph: what is drawn.
        style: says what colours stand for.
        nodes: indices of the nodes that are boxes.
    """
    fact = style.colour_by
    if fact == "family" and shows_diff(graph):
        return _by_change(graph, style, nodes)
    if fact == "family":
        return Colouring({}, "", ())
    ask = fact if callable(fact) else _FACTS[fact]
    paints: dict[int, Paint] = {}
    names: dict[int, str] = {}
    numbers: dict[int, float] = {}
    for index in nodes:
        node = graph.nodes[index]
        if node.kind not in _COLOURED and not callable(fact):
            continue
        found = ask(graph, node)
        if isinstance(found, Paint):
            paints[index] = found
        elif isinstance(found, str):
            names[index] = found
        elif isinstance(found, int | float) and not isinstance(found, bool):
            numbers[index] = float(found)
    keys = [*_by_name(names, style, paints), *_by_number(numbers, style, paints)]
    title = "" if callable(fact) else _TITLES.get(fact, fact)
    return Colouring(paints, title, tuple(keys))


def _by_change(graph: Graph, style: Style, nodes: Sequence[int]) -> Colouring:
    """Colour what changed; all else is as plain as it can be."""
    plain, theme = style.paint("view"), style.theme
    paints: dict[int, Paint] = {}
    for index in nodes:
        change = change_of_box(graph, index)
        if change is not None:
            paints[index] = theme.changes[change]
        elif graph.nodes[index].kind in _COLOURED:
            paints[index] = plain
    seen = {change_of(graph, scope) for scope in graph.scopes} | {change_of_box(graph, index) for index in nodes}
    seen |= changes_of_arrows(graph)
    keys = [Key(change, theme.changes[change]) for change in CHANGES if change in seen]
    return Colouring(paints, str(dict(graph.meta)["diff"]) if keys else "", tuple(keys))


def _by_name(names: dict[int, str], style: Style, paints: dict[int, Paint]) -> list[Key]:
    """Give equal names equal colours, the most frequent first; those that no colours are left for share the last."""
    counts = Counter(names.values())
    order = sorted(counts, key=lambda name: (-counts[name], name))
    palette = [style.paint(family) for family in FAMILIES if family not in ("view", "other")]
    rest = style.paint("other")
    known = dict(zip(order, palette, strict=False))
    for index, name in names.items():
        paints[index] = known.get(name, rest)
    keys = [Key(name or "none", paint) for name, paint in known.items()]
    return [*keys, Key("others", rest)] if len(order) > len(palette) else keys


def _by_number(numbers: dict[int, float], style: Style, paints: dict[int, Paint]) -> list[Key]:
    """Give greater numbers darker colours."""
    finite = [number for number in numbers.values() if 0 < number < float("inf")]
    if not finite:
        return []
    least, greatest = min(finite), max(finite)
    wide = greatest / least > _WIDE

    def share(number: float) -> float:
        if number <= least or greatest == least:
            return 0.0 if number < greatest else 1.0
        number = min(number, greatest)
        return log10(number / least) / log10(greatest / least) if wide else (number - least) / (greatest - least)

    for index, number in numbers.items():
        if number == number:  # not NaN
            paints[index] = _shade(style, share(number))
    if greatest == least:
        return [Key(labels.number(round(greatest)), _shade(style, 1.0))]
    keys = []
    for step in range(_STEPS):
        part = step / (_STEPS - 1)
        number = least * (greatest / least) ** part if wide else least + (greatest - least) * part
        keys.append(Key(labels.number(round(number)) if greatest >= _STEPS else f"{number:.2g}", _shade(style, part)))
    return keys


def _shade(style: Style, share: float) -> Paint:
    """Return the colours at a place between the ends of the scale of a theme, with text that can be read."""
    low, high = (_channels(colour) for colour in style.theme.scale)
    mixed = [round(one + (other - one) * share) for one, other in zip(low, high, strict=True)]
    dark = _luminance(mixed) <= 0.2
    border = [round(255 - (255 - channel) * 0.6 if dark else channel * 0.6) for channel in mixed]
    inks = _DARK_INKS if _luminance(mixed) > _MIDDLE else _LIGHT_INKS
    text, muted = (next((ink for ink in inks[start:] if _contrast(ink, mixed) >= _READ), inks[-1]) for start in (1, 0))
    return Paint(_hex(mixed), _hex(border), text, muted)


def _contrast(ink: str, ground: Sequence[int]) -> float:
    """Return the contrast ratio of a text to what is behind it.

    Source: "Web Content Accessibility Guidelines 2.1", definition of contrast ratio.
    """
    lesser, greater = sorted([_luminance(_channels(ink)), _luminance(ground)])
    return (greater + 0.05) / (lesser + 0.05)


def _channels(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def _hex(channels: Sequence[int]) -> str:
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def _luminance(channels: Sequence[int]) -> float:
    """Return the relative luminance of a colour.

    Source: "Web Content Accessibility Guidelines 2.1", definition of relative luminance.
    """
    linear = [
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in channels)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# ---- what is asked of a node


def _class(graph: Graph, node: Node) -> str:
    scope = graph.scopes[node.scope] if node.scope >= 0 else graph.scopes[node.parent]
    return scope.cls if node.kind == "module" or scope.kind == "module" else node.op


def _module(graph: Graph, node: Node) -> str:
    scope = node.scope if node.scope >= 0 else node.parent
    path = graph.scopes[scope].path
    return path.split(".")[0]


def _dtype(graph: Graph, node: Node) -> str | None:
    return graph.type_of(node.outputs[0]).dtype if node.outputs else None


def _attribute(name: str) -> Callable[[Graph, Node], float | None]:
    def ask(graph: Graph, node: Node) -> float | None:
        found = dict(graph.attrs[node.attrs]).get(name)
        return found if isinstance(found, int | float) else None

    return ask


def _params(graph: Graph, node: Node) -> float:
    found = dict(graph.attrs[node.attrs]).get("params")
    if node.kind == "module" and isinstance(found, int):
        return found
    read = {value for value in node.inputs if graph.nodes[graph.producers[value]].kind == "param"}
    return sum(elements(graph.type_of(value)) for value in read)


def _memory(graph: Graph, node: Node) -> float:
    return sum(size_bytes(graph.type_of(value)) for value in node.outputs)


_FACTS: dict[str, Callable[[Graph, Node], Paint | str | float | None]] = {
    "kind": lambda graph, node: node.kind,
    "class": _class,
    "module": _module,
    "dtype": _dtype,
    "params": _params,
    "flops": _attribute("flops"),
    "memory": _memory,
}
_TITLES = {"params": "parameters", "flops": "FLOPs", "memory": "bytes of results", "dtype": "element type"}


def family_keys(style: Style, families: Collection[Family]) -> tuple[Key, ...]:
    """Return a line for each family that is on a picture."""
    return tuple(Key(family, style.paint(family)) for family in FAMILIES if family in families)
