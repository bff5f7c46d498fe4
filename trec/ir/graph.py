"""The graph: one recorded forward pass as a typed program, and the doors to everything done with it."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from msgspec import Struct

from trec import registry
from trec.ir.types import (
    SOURCE_KINDS,
    TIMES,
    Attr,
    AttrRow,
    Carried,
    Derivative,
    Lifetime,
    Node,
    NodeKind,
    Note,
    Phase,
    Scope,
    Source,
    TensorType,
    Value,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Mapping

    import graphviz
    import networkx
    import pydot

    from trec.analysis.communication import Communication
    from trec.analysis.costs import Costs
    from trec.analysis.diff import Diff
    from trec.analysis.islands import Islands
    from trec.analysis.memory import Memory
    from trec.analysis.parameters import Parameters
    from trec.analysis.paths import Path
    from trec.analysis.repeats import Repeats
    from trec.analysis.report import Report
    from trec.analysis.selectors import Selector
    from trec.analysis.stats import Stats
    from trec.analysis.storage import Aliases
    from trec.backends.options import PictureOptions
    from trec.backends.style import Style
    from trec.backends.table import Table
    from trec.backends.themes import ThemeName
    from trec.ir.derivation import Derivation
    from trec.ir.types import Level


class Graph(Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """What a model did in one forward pass, or code in a whole step of training.

    Rows refer to one another by position. Nodes stand in execution order, which is a topological order; values are
    numbered in the order in which they are produced. A graph never changes: passes return new ones.
    """

    name: str
    """Name of the model, by default its class."""
    nodes: tuple[Node, ...]
    """The program."""
    values: tuple[Value, ...]
    """What flows between nodes."""
    scopes: tuple[Scope, ...]
    """The calls of modules and functions that hold the nodes; the first is the root."""
    types: tuple[TensorType, ...]
    """Tensor types, each once."""
    attrs: tuple[AttrRow, ...] = ((),)
    """Rows of named attributes, each once; the first is the empty row."""
    sources: tuple[Source, ...] = ()
    """Places in the source code, each once."""
    meta: AttrRow = ()
    """Facts of the whole recording, such as its level."""
    carried: tuple[Carried, ...] = ()
    """Values that one iteration of a rolled loop hands to the next."""
    notes: tuple[Note, ...] = ()
    """Facts of the recording that no node tells, such as modules that were never called."""
    derivatives: tuple[Derivative, ...] = ()
    """Which nodes the operators of backward passes differentiate, in program order."""

    # ---- what is derived: computed when first asked for, neither saved nor compared

    @cached_property
    def producers(self) -> tuple[int, ...]:
        """For each value, the index of the node that produces it."""
        return tuple([index for index, node in enumerate(self.nodes) for _ in node.outputs])

    @cached_property
    def users(self) -> tuple[tuple[int, ...], ...]:
        """For each value, the indices of the nodes that read it, once per use, in program order."""
        users: list[list[int]] = [[] for _ in self.values]
        for index, node in enumerate(self.nodes):
            for value in node.inputs:
                users[value].append(index)
        return tuple(map(tuple, users))

    @cached_property
    def nodes_in(self) -> tuple[tuple[int, ...], ...]:
        """For each scope, the indices of the nodes that it holds itself, in program order."""
        held: list[list[int]] = [[] for _ in self.scopes]
        for index, node in enumerate(self.nodes):
            held[node.parent].append(index)
        return tuple(map(tuple, held))

    @cached_property
    def scopes_in(self) -> tuple[tuple[int, ...], ...]:
        """For each scope, the indices of the scopes directly inside it, in order of their calls."""
        held: list[list[int]] = [[] for _ in self.scopes]
        for index, scope in enumerate(self.scopes):
            if scope.parent >= 0:
                held[scope.parent].append(index)
        return tuple(map(tuple, held))

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """For each scope, how many calls it stands for: more than one where equal calls were made one."""
        counts: list[int] = []
        for scope in self.scopes:
            counts.append((counts[scope.parent] if scope.parent >= 0 else 1) * (1 + len(scope.repeats)))
        return tuple(counts)

    @cached_property
    def of_kind(self) -> Mapping[NodeKind, tuple[int, ...]]:
        """The indices of the nodes of each kind but `op`, in program order; most kinds are in few graphs."""
        found: dict[NodeKind, list[int]] = {}
        for index, node in enumerate(self.nodes):
            if node.kind != "op":
                found.setdefault(node.kind, []).append(index)
        return {kind: tuple(indices) for kind, indices in found.items()}

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Node index by node name."""
        return {node.name: index for index, node in enumerate(self.nodes)}

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The phases that calls of the graph belong to, in order of appearance; most graphs have but one."""
        return tuple(dict.fromkeys([scope.phase for scope in self.scopes]))

    @cached_property
    def differentiated(self) -> Mapping[int, tuple[int, ...]]:
        """For each node of a backward pass, by index, the indices of the nodes that it differentiates."""
        found: dict[int, list[int]] = {}
        for row in self.derivatives:
            found.setdefault(row.node, []).append(row.forward)
        return {node: tuple(forward) for node, forward in found.items()}

    @cached_property
    def seconds(self) -> Mapping[str, float]:
        """Wall time of the recorded run by name of node or scope, if it was recorded with `costs=True`; else empty."""
        return {}

    @cached_property
    def lifetimes(self) -> tuple[Lifetime, ...]:
        """How long the memory that steps made was there; empty unless `memory` says that it is known."""
        return ()

    def phase_of(self, node: Node) -> Phase:
        """Return what part of a step of training a node belongs to."""
        return self.scopes[node.parent if node.scope < 0 else node.scope].phase

    def times(self, node: Node) -> int:
        """Return how many a node stands for: how often its call ran, and for how many equal ones a source is there."""
        runs = self.counts[node.parent if node.scope < 0 else node.scope]
        return runs * self._equal.get(node.attrs, 1) if node.kind in SOURCE_KINDS else runs

    @cached_property
    def _equal(self) -> dict[int, int]:
        """For how many equal sources one is there, by the row of attributes that says so."""
        rows = enumerate(self.attrs)
        return {at: value for at, row in rows for name, value in row if name == TIMES and type(value) is int}

    def attrs_of(self, row: Node | Scope) -> dict[str, Attr]:
        """Return the attributes of a node or scope by name."""
        return dict(self.attrs[row.attrs])

    def type_of(self, value: int) -> TensorType:
        """Return the type of a value, given its index."""
        return self.types[self.values[value].type]

    def source_of(self, row: Node | Scope) -> Source | None:
        """Return the line that made the call; None if it is not known."""
        return None if row.source < 0 else self.sources[row.source]

    # ---- where the graph came from: known while it is in memory, neither saved nor compared

    @property
    def derivation(self) -> Derivation | None:
        """What the pass that made this graph says of it; None if no pass made it, or it was loaded from a file."""
        found: Derivation | None = self.__dict__.get("_derivation")
        return found

    def origin(self, node: str) -> tuple[str, ...]:
        """Return what a node stands for in the graph that no pass made; see `trec.ir.derivation.origin`."""
        names: tuple[str, ...] = registry.load("trec.ir.derivation:origin")(self, node)
        return names

    def expand(self, node: str | None = None) -> Graph:
        """Return the graph with a made node open again, or without the last pass; see `trec.ir.derivation.expand`."""
        graph: Graph = registry.load("trec.ir.derivation:expand")(self, node)
        return graph

    # ---- analyses: what is known of the graph, as typed results with plain `rows()`

    def stats(self) -> Stats:
        """Return operators, parameters, bytes and FLOPs by module; see `trec.analysis.stats.stats`."""
        found: Stats = registry.load("trec.analysis.stats:stats")(self)
        return found

    def parameters(self) -> Parameters:
        """Return the parameters and buffers and where they are used; see `trec.analysis.parameters.parameters`."""
        found: Parameters = registry.load("trec.analysis.parameters:parameters")(self)
        return found

    def memory(self) -> Memory:
        """Return how long tensors live and the peak of their memory; see `trec.analysis.memory.memory`."""
        found: Memory = registry.load("trec.analysis.memory:memory")(self)
        return found

    def aliases(self) -> Aliases:
        """Return what shares memory and what is written in place; see `trec.analysis.storage.aliases`."""
        found: Aliases = registry.load("trec.analysis.storage:aliases")(self)
        return found

    def critical_path(self, by: Literal["count", "flops"] = "count") -> Path:
        """Return the heaviest path of the data flow; see `trec.analysis.paths.critical_path`."""
        found: Path = registry.load("trec.analysis.paths:critical_path")(self, by=by)
        return found

    def communication(self) -> Communication:
        """Return what ranks communicate, by module and operation; see `trec.analysis.communication.communication`."""
        found: Communication = registry.load("trec.analysis.communication:communication")(self)
        return found

    def islands(self) -> Islands:
        """Return the parts that compute in one element type; see `trec.analysis.islands.islands`."""
        found: Islands = registry.load("trec.analysis.islands:islands")(self)
        return found

    def diff(self, other: Graph, *, names: bool = True) -> Diff:
        """Return what changed from this graph to another; see `trec.analysis.diff.diff`."""
        found: Diff = registry.load("trec.analysis.diff:diff")(self, other, names=names)
        return found

    def repeats(self, *, shapes: bool = True, ignore: str | Collection[str] = ()) -> Repeats:
        """Return which blocks are equal and where others differ; see `trec.analysis.repeats.repeats`."""
        found: Repeats = registry.load("trec.analysis.repeats:repeats")(self, shapes=shapes, ignore=ignore)
        return found

    def run(self, which: int | str) -> Graph:
        """Return one run of a graph of several; see `trec.passes.run.run`."""
        graph: Graph = registry.load("trec.passes.run:run")(self, which)
        return graph

    def costs(self) -> Costs:
        """Return the operations, bytes and time of each node and call; see `trec.analysis.costs.costs`."""
        found: Costs = registry.load("trec.analysis.costs:costs")(self)
        return found

    def report(self) -> Report:
        """Return what the recording did not see and what the model did not use; see `trec.analysis.report.report`."""
        found: Report = registry.load("trec.analysis.report:report")(self)
        return found

    # ---- text and notebook

    def __str__(self) -> str:
        return "\n".join(registry.load("trec.ir.text:lines")(self))

    def __repr__(self) -> str:
        sizes = f"{len(self.nodes)} nodes, {len(self.values)} values, {len(self.scopes)} scopes"
        return f"<trec.Graph {self.name!r}: {sizes}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = registry.load("trec.backends.notebook:mimebundle")(self)
        return bundle

    # ---- checking and saving

    def verify(self) -> Graph:
        """Check every invariant of the IR and return the graph itself.

        Raises:
            VerifyError: an invariant is broken; the message names it and shows the program around it.
        """
        registry.load("trec.ir.verify:verify")(self)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a `.trec` (binary) or `.json` file, each also with `.gz`, for `trec.load`."""
        registry.load("trec.ir.serialize:save")(self, path)

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the graph in the format that the suffix of the file name stands for.

        Args:
            path: where to write; with a further `.gz` a text format is compressed.
            **options: what the backend of that format takes.

        Raises:
            OptionError: no format has that suffix; the message lists the known ones.
        """
        registry.load("trec.backends.write:write")(self, path, **options)

    # ---- passes and backends by name

    def apply(self, pass_: str | Callable[..., Graph], **options: Any) -> Graph:
        """Return the graph rewritten by a pass, given as a function or by name."""
        function = registry.resolve("pass", pass_)
        result: Graph = registry.load("trec.ir.derivation:applied")(
            function(self, **options), self, partial(function, **options)
        )
        return result

    def to(self, backend: str | Callable[..., Any], **options: Any) -> Any:
        """Return what a backend makes of the graph, given as a function or by name."""
        return registry.resolve("backend", backend)(self, **options)

    def collapse(
        self,
        *,
        depth: int | None = None,
        only: Selector = (),
        keep: Selector = (),
    ) -> Graph:
        """Turn module calls into single nodes; see `trec.passes.collapse.collapse`."""
        return self.apply("collapse", depth=depth, only=only, keep=keep)

    def focus(
        self,
        on: Selector,
        *,
        to: Selector | None = None,
        steps: int | None = 0,
        direction: Literal["both", "up", "down"] = "both",
    ) -> Graph:
        """Keep a part of the graph; see `trec.passes.focus.focus`."""
        return self.apply("focus", on=on, to=to, steps=steps, direction=direction)

    def fold(self, *, shapes: bool = True, ignore: str | Collection[str] = ()) -> Graph:
        """Let one of many equal blocks stand for all; see `trec.passes.fold.fold`."""
        return self.apply("fold", shapes=shapes, ignore=ignore)

    def hide(self, what: Selector, *, missing_ok: bool = False) -> Graph:
        """Leave out nodes and join what they stood between; see `trec.passes.hide.hide`."""
        return self.apply("hide", what=what, missing_ok=missing_ok)

    def level(self, level: Level) -> Graph:
        """Fold what is finer than a level into single nodes; see `trec.passes.level.level`."""
        return self.apply("level", level=level)

    def phase(self, phase: Phase) -> Graph:
        """Keep one part of a step of training; see `trec.passes.phase.phase`."""
        return self.apply("phase", phase=phase)

    def prune(self, *, keep: Selector = ()) -> Graph:
        """Leave out operators whose results nobody needs; see `trec.passes.prune.prune`."""
        return self.apply("prune", keep=keep)

    def relabel(self, labels: Mapping[str, str] | Callable[[Node | Scope], str], *, missing_ok: bool = False) -> Graph:
        """Call operators and modules something else; see `trec.passes.relabel.relabel`."""
        return self.apply("relabel", labels=labels, missing_ok=missing_ok)

    def rename(self, names: Mapping[str, str] | Callable[[Node | Scope], str], *, missing_ok: bool = False) -> Graph:
        """Give nodes and scopes other names; see `trec.passes.rename.rename`."""
        return self.apply("rename", names=names, missing_ok=missing_ok)

    def roll(self) -> Graph:
        """Let one call of a module stand for many of it; see `trec.passes.roll.roll`."""
        return self.apply("roll")

    def tensors(self, which: Literal["boundaries", "all"] = "boundaries") -> Graph:
        """Make tensors that cross the boundary of a call nodes; see `trec.passes.tensors.tensors`."""
        return self.apply("tensors", which=which)

    def to_dot(
        self,
        path: str | os.PathLike[str] | None = None,
        **options: Unpack[PictureOptions],
    ) -> str:
        """Return the drawing in the DOT language; see `trec.backends.dot.to_dot`."""
        text: str = self.to("dot", path=path, **options)
        return text

    def to_graphviz(
        self,
        **options: Unpack[PictureOptions],
    ) -> graphviz.Digraph:
        """Return the drawing as a `graphviz.Digraph`; see `trec.backends.graphviz.to_graphviz`."""
        digraph: graphviz.Digraph = self.to("graphviz", **options)
        return digraph

    def to_pydot(
        self,
        **options: Unpack[PictureOptions],
    ) -> pydot.Dot:
        """Return the drawing as a `pydot.Dot`; see `trec.backends.pydot.to_pydot`."""
        dot: pydot.Dot = self.to("pydot", **options)
        return dot

    def to_svg(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        wrap: float = 0,
        engine: Literal["own", "dot"] = "own",
        **options: Unpack[PictureOptions],
    ) -> str:
        """Return the drawing as SVG; see `trec.backends.svg.to_svg`."""
        text: str = self.to("svg", path=path, wrap=wrap, engine=engine, **options)
        return text

    def to_png(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        scale: float = 2,
        wrap: float = 0,
        **options: Unpack[PictureOptions],
    ) -> bytes:
        """Return the drawing as PNG; see `trec.backends.png.to_png`."""
        picture: bytes = self.to("png", path=path, scale=scale, wrap=wrap, **options)
        return picture

    def to_pdf(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        wrap: float = 0,
        **options: Unpack[PictureOptions],
    ) -> bytes:
        """Return the drawing as PDF; see `trec.backends.pdf.to_pdf`."""
        page: bytes = self.to("pdf", path=path, wrap=wrap, **options)
        return page

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        depth: int | None = None,
        fold: bool = True,
        params: bool = False,
        shapes: Literal["changes", "all", "none"] = "changes",
        rankdir: Literal["TB", "LR", "BT", "RL"] = "TB",
        wrap: float = 0,
        title: str = "",
        links: str = "",
        compress: bool = True,
        style: Style | ThemeName | None = None,
    ) -> str:
        """Return the graph as an interactive picture in one file; see `trec.backends.html.page.to_html`."""
        text: str = self.to(
            "html", path=path, depth=depth, fold=fold, params=params, shapes=shapes, rankdir=rankdir, wrap=wrap,
            title=title, links=links, compress=compress, style=style,
        )  # fmt: skip
        return text

    def to_mermaid(self, path: str | os.PathLike[str] | None = None, **options: Unpack[PictureOptions]) -> str:
        """Return the drawing as a flowchart of Mermaid; see `trec.backends.mermaid.to_mermaid`."""
        text: str = self.to("mermaid", path=path, **options)
        return text

    def to_tikz(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        wrap: float = 0,
        standalone: bool = True,
        **options: Unpack[PictureOptions],
    ) -> str:
        """Return the drawing in TikZ; see `trec.backends.tikz.to_tikz`."""
        text: str = self.to("tikz", path=path, wrap=wrap, standalone=standalone, **options)
        return text

    @overload
    def to_networkx(
        self, *, scopes: bool = True, carried: bool = False, simple: Literal[False] = False
    ) -> networkx.MultiDiGraph[int]: ...
    @overload
    def to_networkx(self, *, scopes: bool = True, carried: bool = False, simple: bool) -> networkx.DiGraph[int]: ...
    def to_networkx(self, *, scopes: bool = True, carried: bool = False, simple: bool = False) -> networkx.DiGraph[int]:
        """Return the graph for networkx; see `trec.backends.networkx.to_networkx`."""
        network: networkx.DiGraph[int] = self.to("networkx", scopes=scopes, carried=carried, simple=simple)
        return network

    def to_gexf(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        scopes: bool = False,
        layout: bool = False,
        style: Style | ThemeName | None = None,
    ) -> str:
        """Return the graph as GEXF, for Gephi; see `trec.backends.gexf.to_gexf`."""
        text: str = self.to("gexf", path=path, scopes=scopes, layout=layout, style=style)
        return text

    def to_graphml(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the graph as GraphML; see `trec.backends.graphml.to_graphml`."""
        text: str = self.to("graphml", path=path)
        return text

    def to_sigma(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        multi: bool = False,
        rankdir: Literal["TB", "LR", "BT", "RL"] = "TB",
        wrap: float = 0,
        style: Style | ThemeName | None = None,
    ) -> dict[str, Any]:
        """Return the graph as sigma.js draws it; see `trec.backends.sigma.to_sigma`."""
        data: dict[str, Any] = self.to("sigma", path=path, multi=multi, rankdir=rankdir, wrap=wrap, style=style)
        return data

    def to_cytoscape(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        layout: bool = False,
        style: Style | ThemeName | None = None,
    ) -> dict[str, Any]:
        """Return the graph as Cytoscape.js draws it; see `trec.backends.cytoscape.to_cytoscape`."""
        data: dict[str, Any] = self.to("cytoscape", path=path, layout=layout, style=style)
        return data

    def to_model_explorer(self, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Return the graph for Model Explorer; see `trec.backends.model_explorer.to_model_explorer`."""
        data: dict[str, Any] = self.to("model_explorer", path=path)
        return data

    def to_table(self, path: str | os.PathLike[str] | None = None, *, depth: int | None = None) -> Table:
        """Return the calls of modules as a table; see `trec.backends.table.to_table`."""
        table: Table = self.to("table", path=path, depth=depth)
        return table

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the graph as JSON text that `trec.load` reads; see `trec.ir.serialize.to_json`."""
        text: str = self.to("json", path=path)
        return text
