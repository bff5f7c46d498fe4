"""What is drawn at a depth, for renderers to any format."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from trec.torchrecorder.nodes import LayerNode, ParamNode, TensorNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.torchrecorder.nodes import BaseNode
    from trec.torchrecorder.recorder import Recorder


class BaseRenderer:
    """Draw a recording in a format of one's own: subclasses say how a node, an open module and an edge are drawn.

    Attributes:
        rec: the recording.
        render_depth: depth of what is drawn at most; a module at this depth is one node, whatever is in it.
        processed: while rendering, what is drawn, each node with the nodes that its edges lead to.
    """

    def __init__(self, rec: Recorder, render_depth: int = 256) -> None:
        self.rec = rec
        self.render_depth = render_depth
        self.processed: OrderedDict[BaseNode, list[BaseNode]] = OrderedDict()

    def render_node(self, dest: Any, node: BaseNode) -> None:
        """Draw a node; an open module goes to `render_recursive_node`.

        Args:
            dest: what to draw into.
            node: the node.
        """
        raise NotImplementedError(f"{type(self).__name__} must say how a node is drawn")

    def render_recursive_node(self, dest: Any, node: BaseNode) -> None:
        """Draw an open module and what is in it.

        Args:
            dest: what to draw into.
            node: the module, whose depth is less than `render_depth`.
        """
        raise NotImplementedError(f"{type(self).__name__} must say how an open module is drawn")

    def render_edge(self, dest: Any, fnode: BaseNode, tnode: BaseNode) -> None:
        """Draw an edge.

        Args:
            dest: what to draw into.
            fnode: where it begins.
            tnode: where it ends.
        """
        raise NotImplementedError(f"{type(self).__name__} must say how an edge is drawn")

    def __call__(self, dest: Any) -> Any:
        """Draw the recording and return what it was drawn into.

        Each node that is in `processed` when its turn comes is drawn and then its edges, so a subclass may take out
        what it has drawn already.

        Args:
            dest: what to draw into: a `graphviz.Digraph`, a dict, anything that the methods take.
        """
        self._process()
        while self.processed:
            node = next(iter(self.processed))
            targets = self.processed[node]
            self.render_node(dest, node)
            for target in targets:
                self.render_edge(dest, node, target)
            self.processed.pop(node, None)
        return dest

    def members(self, node: LayerNode) -> Iterator[BaseNode]:
        """Yield what is drawn directly in an open module: its `subnets`, and further calls of those that are closed."""
        for key in node.subnets:
            member = self.rec.nodes[key]
            yield member
            if self.is_closed(member):
                yield from member.repeats  # type: ignore[attr-defined]

    def is_closed(self, node: BaseNode) -> bool:
        """Tell whether a node is a module that is drawn as a box."""
        return isinstance(node, LayerNode) and node.depth >= self.render_depth

    def _process(self) -> None:
        """Fill `processed`: edges of what is too deep begin and end at the closed module around it."""
        self.processed.clear()
        for key, node in self.rec.nodes.items():
            if key is not None and node.depth <= self.render_depth:
                self.processed.setdefault(node, [])
                if self.is_closed(node):
                    for again in node.repeats:  # type: ignore[attr-defined]
                        self.processed.setdefault(again, [])
        edges = list(self._lifted_edges())
        made = {(above, below) for above, below in edges if isinstance(below, TensorNode)}
        for above, below in edges:
            if (below, above) not in made:  # a call reads its own result only before that leaves it
                self.processed[above].append(below)

    def _lifted_edges(self) -> Iterator[tuple[BaseNode, BaseNode]]:
        """Yield the edges between what is drawn, once for each time that data flows there."""
        for source, target, _ in self.rec.edges:
            begin, end = self.rec.nodes[source], self.rec.nodes[target]
            above, below = self._lifted(begin), self._lifted(end)
            if above is below or (isinstance(begin, ParamNode) and above.fn is below.fn):
                continue  # what a later call of a module reads of its parameters is inside too
            yield above, below

    def _lifted(self, node: BaseNode) -> BaseNode:
        """Return what a node is drawn as: itself, or the closed module around it, in the call that it belongs to."""
        call, top = node.call, node
        while top.depth > self.render_depth:
            top = self.rec.nodes[top.parent]
        if isinstance(top, LayerNode) and top.repeats and self.is_closed(top):
            while call is not None and call.node is not top:
                call = call.outer
            if call is not None and call.index:
                return top.repeats[call.index - 1]
        return top
