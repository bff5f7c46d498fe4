"""One small graph for each scope: its members, and what runs between them, into it and out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from trec.layout.diagram import Diagram, Size


class Net(NamedTuple):
    """What one box sends along one line, as far as one scope sees it."""

    source: int
    """Position of the member that it comes from; -1 if it enters the scope."""
    source_port: int
    """Which of the lines out of that member it is; 0 for a box."""
    targets: tuple[tuple[int, int], ...]
    """Position of each member that it leads to, and which of the lines into that member it is."""
    leaves: bool
    """Whether it leads out of the scope as well."""
    label: Size | None
    """Room for its text, if that stands in this scope."""
    back: bool
    """Whether it runs against the order of the members, from its source to the only one that it leads to."""

    def onwards(self) -> Net:
        """Return the net as one that runs with the order of the members."""
        return Net(self.targets[0][0], 0, ((self.source, 0),), False, None, False) if self.back else self


class Local(Struct):
    """The graph of one scope: edges are seen between its members, however deep their ends lie."""

    members: list[int]
    """Items in the order in which they run: boxes, then by their own numbers behind those the scopes, the root last."""
    position: dict[int, int]
    """Position of each member."""
    nets: list[Net]
    index: dict[int, int]
    """Position in `nets` of each net of the diagram that is seen here."""


class Nesting(Struct):
    """All scopes of a diagram, and how its wires run through them."""

    parent: list[int]
    """The scope around each item; -1 for the root."""
    depth: list[int]
    scopes: list[int]
    """Items that are scopes and hold anything, each before those in it."""
    locals: dict[int, Local]
    nets: list[int]
    """For each wire, its net; one that runs against the order of the members has a net of its own."""
    loops: list[int]
    """Wires from a box to itself."""


class _Seen(Struct, gc=False):
    """What is known of a net in a scope while wires are followed."""

    source: int
    targets: dict[int, None]
    leaves: bool


def nest(diagram: Diagram) -> Nesting:
    """Return the graph of each scope: every wire climbs from both ends to the lowest scope that holds them.

    Cost: linear in the number of boxes, and in that of wires times the depth of scopes.
    """
    parent, depth, members = _tree(diagram)
    order = [0] * len(parent)
    for inner in members.values():
        for position, item in enumerate(inner):
            order[item] = position
    seen: dict[int, dict[int, _Seen]] = {scope: {} for scope in members}
    climb = _Climb(parent, depth, order, seen)
    fresh = max((wire.net for wire in diagram.wires), default=-1) + 1
    nets: list[int] = []
    loops: list[int] = []
    for index, wire in enumerate(diagram.wires):
        source, target, net = wire.source, wire.target, wire.net
        if source == target:
            loops.append(index)
            nets.append(net)
            continue
        if climb.against(source, target):
            net = fresh
            fresh += 1
        climb.follow(source, target, net)
        nets.append(net)
    labels = _at_labels(diagram, nets)
    locals_ = _locals(members, seen, climb.lowest, labels)
    return Nesting(parent, depth, list(members), locals_, nets, loops)


def _at_labels(diagram: Diagram, nets: list[int]) -> dict[int, Size]:
    """Return the room for the text of each net, those that run against the order among them."""
    labels = dict(diagram.labels)
    for wire, net in zip(diagram.wires, nets, strict=True):
        if wire.net in diagram.labels:
            labels[net] = diagram.labels[wire.net]
    return labels


def _tree(diagram: Diagram) -> tuple[list[int], list[int], dict[int, list[int]]]:
    """Return parent and depth of each item and the members of each scope that has any, the root first."""
    boxes, count = len(diagram.sizes), len(diagram.parents)
    root = boxes + count
    parent = [root if scope < 0 else boxes + scope for scope in diagram.scopes]
    parent += [root if scope < 0 else boxes + scope for scope in diagram.parents]
    parent.append(-1)
    depth = [0] * (root + 1)
    for scope in range(boxes, root):
        depth[scope] = depth[parent[scope]] + 1
    members: dict[int, list[int]] = {root: []}
    for scope in range(boxes, root):
        members[scope] = []
    for box in diagram.order or range(boxes):
        item, around = box, parent[box]
        depth[box] = depth[around] + 1
        while around >= 0:
            held = members[around]
            held.append(item)
            if len(held) > 1:
                break
            item, around = around, parent[around]
    return parent, depth, {scope: held for scope, held in members.items() if held or scope == root}


class _Climb:
    """Follow wires through the scopes of one diagram."""

    def __init__(
        self, parent: list[int], depth: list[int], order: list[int], seen: dict[int, dict[int, _Seen]]
    ) -> None:
        self.parent, self.depth, self.order, self.seen = parent, depth, order, seen
        self.lowest: dict[int, int] = {}
        """For each net, the deepest scope in which it has a source and a target."""

    def against(self, source: int, target: int) -> bool:
        """Tell whether a wire runs against the order of the members of the scope where its ways from both ends meet."""
        parent, depth = self.parent, self.depth
        above, below = depth[source], depth[target]
        while above > below:
            source = parent[source]
            above -= 1
        while below > above:
            target = parent[target]
            below -= 1
        while parent[source] != parent[target]:
            source, target = parent[source], parent[target]
        return self.order[source] > self.order[target]

    def follow(self, source: int, target: int, net: int) -> None:
        """Write down in each scope what it sees of a wire."""
        parent, depth = self.parent, self.depth
        above, below = depth[source], depth[target]
        while above > below:
            self._at(parent[source], net, source).leaves = True
            source = parent[source]
            above -= 1
        while below > above:
            self._at(parent[target], net, -1).targets[target] = None
            target = parent[target]
            below -= 1
        while parent[source] != parent[target]:
            self._at(parent[source], net, source).leaves = True
            self._at(parent[target], net, -1).targets[target] = None
            source, target = parent[source], parent[target]
        scope = parent[source]
        self._at(scope, net, source).targets[target] = None
        known = self.lowest.get(net)
        if known is None or depth[known] < depth[scope]:
            self.lowest[net] = scope

    def _at(self, scope: int, net: int, source: int) -> _Seen:
        rows = self.seen[scope]
        row = rows.get(net)
        if row is None:
            row = rows[net] = _Seen(source, {}, False)
        return row


def _locals(
    members: dict[int, list[int]],
    seen: dict[int, dict[int, _Seen]],
    lowest: dict[int, int],
    labels: dict[int, Size],
) -> dict[int, Local]:
    """Return the graph of each scope from what its wires were seen to do."""
    into: dict[int, dict[int, int]] = {}
    out: dict[int, dict[int, int]] = {}
    for scope, rows in seen.items():
        into[scope] = {net: port for port, net in enumerate([net for net, row in rows.items() if row.source < 0])}
        out[scope] = {net: port for port, net in enumerate([net for net, row in rows.items() if row.leaves])}
    found: dict[int, Local] = {}
    for scope, items in members.items():
        position = {item: index for index, item in enumerate(items)}
        nets = []
        for net, row in seen[scope].items():
            source = position[row.source] if row.source >= 0 else -1
            targets = tuple([(position[to], into[to][net] if to in into else 0) for to in row.targets])
            port = out[row.source][net] if row.source in out else 0
            label = labels.get(net) if lowest.get(net) == scope else None
            back = bool(targets) and targets[0][0] < source
            nets.append(Net(source, port, targets, row.leaves, label, back))
        found[scope] = Local(items, position, nets, {net: index for index, net in enumerate(seen[scope])})
    return found
