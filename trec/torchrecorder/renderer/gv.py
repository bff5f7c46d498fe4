"""Draw a recording as a `graphviz.Digraph`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.errors import DependencyError
from trec.torchrecorder.nodes import BaseNode, LayerNode, OpNode, ParamNode, TensorNode
from trec.torchrecorder.renderer.nested import NestedRenderer

if TYPE_CHECKING:
    import graphviz

    from trec.torchrecorder.recorder import Recorder


class GraphvizStyler:
    """The attributes of Graphviz that nodes and edges have; subclasses may look at the live objects.

    Attributes:
        styles: for each class of nodes, what all of that class have.
    """

    def __init__(self, **styler_args: Any) -> None:
        given = {key: str(value) for key, value in styler_args.items() if value is not None}
        common = {"style": "filled", "align": "left", "color": "black"} | given
        self.styles: dict[type[BaseNode], dict[str, Any]] = {
            BaseNode: dict(common),
            TensorNode: {"fillcolor": "lightblue"} | common,
            ParamNode: {"fillcolor": "darkolivegreen"} | common,
            OpNode: {"fillcolor": "orange", "shape": "box"} | common,
            LayerNode: {"fillcolor": "lightgrey", "shape": "box"} | common,
        }

    def style_node(self, node: BaseNode) -> dict[str, Any]:
        """Return the attributes of a node: its look and, as `label`, its name, with the shape of a tensor.

        Args:
            node: the node.
        """
        kind = next(kind for kind in type(node).__mro__ if kind in self.styles)
        label = f"{node.name}\n{list(node.fn.shape)}" if isinstance(node, TensorNode) else node.name
        return {**self.styles[kind], "label": label}

    def style_edge(self, fnode: BaseNode, tnode: BaseNode) -> dict[str, Any]:
        """Return the attributes of an edge; there are none by default.

        Args:
            fnode: where it begins.
            tnode: where it ends.
        """
        return {}


class GraphvizRenderer(NestedRenderer):
    """Draw a recording into a `graphviz.Digraph`; an open module is a cluster.

    Nodes are named `node0`, `node1`, ..., clusters `cluster_0`, `cluster_1`, ... as they are drawn.

    Attributes:
        styler: what says how nodes and edges look.
    """

    def __init__(
        self, rec: Recorder, render_depth: int = 256, styler_cls: type[GraphvizStyler] | None = None, **styler_args: Any
    ) -> None:
        super().__init__(rec, render_depth)
        self.styler = (styler_cls or GraphvizStyler)(**styler_args)
        self._names: dict[BaseNode, str] = {}
        self._clusters = 0

    def __call__(self, dest: graphviz.Digraph) -> graphviz.Digraph:
        """Draw the recording into a digraph and return it."""
        self._names.clear()
        self._clusters = 0
        super().__call__(dest)
        return dest

    def render_node(self, g: graphviz.Digraph, node: BaseNode) -> None:
        """Draw a node that is not there yet; an open module with what is in it.

        Args:
            g: what to draw into.
            node: the node.
        """
        super().render_node(g, node)

    def render_box(self, g: graphviz.Digraph, node: BaseNode) -> None:
        """Draw a node that has nothing in it.

        Args:
            g: what to draw into.
            node: the node.
        """
        g.node(self._name(node), **self.styler.style_node(node))

    def render_recursive_node(self, g: graphviz.Digraph, node: LayerNode) -> None:  # type: ignore[override]
        """Draw an open module as a cluster.

        Args:
            g: what to draw into.
            node: the module.
        """
        style = {**self.styler.style_node(node), "fillcolor": "white"}
        frame = new_digraph(f"cluster_{self._clusters}", style, {"group": str(node.depth)})
        self._clusters += 1
        for member in self.members(node):
            self.render_node(frame, member)
        g.subgraph(frame)

    def render_edge(self, g: graphviz.Digraph, fnode: BaseNode, tnode: BaseNode) -> None:
        """Draw an edge.

        Args:
            g: what to draw into.
            fnode: where it begins.
            tnode: where it ends.
        """
        g.edge(self._name(fnode), self._name(tnode), **self.styler.style_edge(fnode, tnode))

    def _name(self, node: BaseNode) -> str:
        return self._names.setdefault(node, f"node{len(self._names)}")


def new_digraph(name: str | None, graph_attr: dict[str, Any], node_attr: dict[str, Any]) -> graphviz.Digraph:
    """Return an empty digraph.

    Raises:
        DependencyError: the package `graphviz` is not installed.
    """
    try:
        import graphviz
    except ImportError as error:
        raise DependencyError("make_dot() needs the package graphviz: pip install graphviz") from error
    return graphviz.Digraph(name=name, graph_attr=graph_attr, node_attr=node_attr)
