"""Random valid graphs for hypothesis: any program and scope tree that `GraphBuilder` can make, with hostile names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from msgspec.structs import replace

from trec.ir.builder import GraphBuilder
from trec.ir.tables import clean
from trec.ir.types import PHASES, Carried, Derivative, Note, Source

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow, NodeKind, ScopeKind

HOSTILE = (
    "", " ", "x", "layers.0.weight", '"', "'", "\\", "\\n", "\n", "\r\n", "\t", "\0", "\x07", "\x1b[31m", "\x7f",
    "\x85", "\u2028", "\u202e", "<b>", "</svg>", "&amp;", "]]>", "|{}", "{a|b}", ":", "a:b", "%1", "#2", "  # x",
    "->", "--", ";", "/*", "//", "$(x)", "`", "[", "(", ",", "=", "ä", "日本", "😀", "e\u0301", "\ud800",
    "\udfff", "\ufeff", "\uffff", "node", "graph", "None", "a" * 300,
)  # fmt: skip
DTYPES = ("float32", "float16", "bfloat16", "int64", "bool", "complex64", "float8_e4m3fn", "quint4x2")
MUTABLE_KINDS: tuple[NodeKind, ...] = ("op", "op", "op", "region", "host", "link")
SOURCE_KINDS: tuple[NodeKind, ...] = ("input", "param", "buffer", "constant")

names = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8))
clean_names = names.map(clean)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.integers(-3, 3), st.floats(), names
)  # fmt: skip
_tuples = st.lists(st.one_of(scalars, st.lists(scalars, max_size=2).map(tuple)), max_size=3).map(tuple)
values = st.one_of(scalars, scalars, st.lists(st.one_of(scalars, _tuples), max_size=3).map(tuple))


plain = names.map(clean)


def _row(pairs: list[tuple[str, Any]]) -> AttrRow:
    return tuple(pairs)


rows = st.lists(
    st.tuples(st.one_of(names, st.sampled_from(("stride", "dim"))).filter(str.isprintable), values),
    max_size=3,
    unique_by=lambda pair: pair[0],
).map(_row)
sources = st.one_of(st.none(), st.builds(Source, st.sampled_from(("model.py", "a b/\n.py")), st.integers(1, 99)))


def _count(most: int) -> SearchStrategy[int]:
    """Return numbers up to `most`, few of them small: hypothesis makes small graphs all the same."""
    return st.sampled_from((0, 1, 2, *[max(most // 2, 1)] * 3, *[most] * 4))


@st.composite
def graphs(draw: DrawFn, max_nodes: int = 12, max_scopes: int = 6) -> Graph:
    """Return valid graphs of every shape: from none to `max_nodes` nodes between what comes in and what goes out."""
    builder = GraphBuilder(draw(names), draw(st.sampled_from(((), (("level", "function"),), (("level", "aten"),)))))
    opened, closed = _scopes(draw, builder, max_scopes)
    for _ in range(draw(_count(max_nodes))):
        _node(draw, builder, opened, closed)
    count = len(builder.values)
    if count:
        for position in range(draw(st.integers(0, 3))):
            name = draw(names)
            value = draw(st.integers(0, count - 1))
            builder.node("output", parent=0, name=name, inputs=[value], attrs=(("index", position),))
    _settle_params(builder)
    _give_values(draw, builder)
    notes = st.builds(Note, st.sampled_from(("unused_param", "uncalled_module", "new")), clean_names, clean_names)
    builder.notes.extend(draw(st.lists(notes, max_size=2)))
    return builder.build()


def _scopes(draw: DrawFn, builder: GraphBuilder, most: int) -> tuple[list[int], list[int]]:
    """Add scopes; return those that nodes may lie in and those that collapsed nodes may stand for."""
    builder.scope(draw(st.sampled_from(("module", "module", "region"))), path="", cls=draw(names), attrs=draw(rows))
    for _ in range(draw(_count(most))):
        builder.scope(
            draw(st.sampled_from(("module", "module", "function", "region"))),
            path=draw(names),
            cls=draw(names),
            parent=draw(st.integers(0, len(builder.scopes) - 1)),
            call=draw(st.integers(0, 2)),
            name=draw(st.one_of(st.none(), names)),
            attrs=draw(rows),
            source=draw(sources),
        )
    parents = {scope.parent for scope in builder.scopes}
    leaves = [index for index in range(1, len(builder.scopes)) if index not in parents]
    closed = [index for index in leaves if draw(st.booleans())]
    return [index for index in range(len(builder.scopes)) if index not in closed], closed


def _node(draw: DrawFn, builder: GraphBuilder, opened: list[int], closed: list[int]) -> None:
    count = len(builder.values)
    some = st.lists(st.integers(0, count - 1), max_size=4) if count else st.just([])
    kind = draw(st.sampled_from(SOURCE_KINDS if not count or draw(st.integers(0, 3)) == 0 else MUTABLE_KINDS))
    name, attrs, source = draw(names), draw(rows), draw(sources)
    if kind in SOURCE_KINDS:
        attrs = {"input": (("index", 0),), "constant": ()}.get(kind, (("qualname", "w"), ("aliases", "v,u")))
        builder.node(kind, parent=0, name=name, results=[_type(draw, builder)], attrs=attrs, source=source)
        return
    results = [_type(draw, builder) for _ in range(draw(st.integers(1 if kind == "link" else 0, 3)))]
    inputs = draw(some)
    scope, parent = -1, draw(st.sampled_from(opened))
    op = draw(st.one_of(st.sampled_from(("relu", "aten.add.Tensor", "__add__")), names))
    if closed and kind == "op" and draw(st.integers(0, 3)):
        scope = draw(st.sampled_from(closed))
        folded: dict[str, NodeKind] = {"module": "module", "function": "op", "region": "region"}
        kind, parent, op = folded[builder.scopes[scope].kind], builder.scopes[scope].parent, builder.scopes[scope].cls
        attrs = (("ops", 3), ("params", 10), ("param_bytes", 40))
    if kind == "link":
        op = draw(st.sampled_from(("pass", "update", "alias")))
        inputs = inputs or [0]
    builder.node(
        kind, op, parent=parent, name=name, inputs=inputs, results=results, attrs=attrs, source=source, scope=scope
    )


def _type(draw: DrawFn, builder: GraphBuilder) -> int:
    return builder.tensor_type(
        draw(st.lists(st.one_of(st.integers(0, 9), st.sampled_from(("s0", "?"))), max_size=4)),
        draw(st.sampled_from(DTYPES)),
        draw(st.sampled_from(("cpu", "cpu", "cuda:0"))),
        draw(st.sampled_from(("strided", "strided", "sparse_coo"))),
    )


def _settle_params(builder: GraphBuilder) -> None:
    """Put each parameter, buffer and constant into the lowest module that all its readers share."""
    for index, node in enumerate(builder.nodes):
        if node.kind not in ("param", "buffer", "constant"):
            continue
        around = [_modules(builder, other.parent) for other in builder.nodes if node.outputs[0] in other.inputs]
        parent = max(set.intersection(*map(set, around)), key=around[0].index) if around else 0
        depth = builder.scopes[parent].depth + 1
        builder.nodes[index] = replace(node, parent=parent, depth=depth)


def _modules(builder: GraphBuilder, scope: int) -> list[int]:
    """Return the modules around a scope, the root first, the scope itself last if it is one."""
    found = []
    while scope > 0:
        if builder.scopes[scope].kind == "module":
            found.append(scope)
        scope = builder.scopes[scope].parent
    return [0, *reversed(found)]


def _give_values(draw: DrawFn, builder: GraphBuilder) -> None:
    """Let scopes stand for several calls, give functions arguments and results, and let loops carry values."""
    for index in draw(st.lists(st.integers(1, len(builder.scopes) - 1), max_size=2)) if builder.scopes[1:] else ():
        builder.scopes[index] = replace(builder.scopes[index], repeats=tuple(draw(st.lists(plain, max_size=2))))
    count = len(builder.values)
    if not count:
        return
    some = st.lists(st.integers(0, count - 1), max_size=2).map(tuple)
    for index, scope in enumerate(builder.scopes):
        if scope.kind == "function":
            builder.scopes[index] = replace(scope, inputs=draw(some), outputs=draw(some))
    readers = [index for index, node in enumerate(builder.nodes) if node.inputs]
    for index in draw(st.lists(st.sampled_from(readers), max_size=2)) if readers else ():
        port = draw(st.integers(-1, len(builder.nodes[index].inputs) - 1))
        loop = draw(st.integers(-1, len(builder.scopes) - 1))
        edge = Carried(draw(st.integers(0, count - 1)), index, port, loop)
        if edge not in builder.carried:
            builder.carried.append(edge)
    _give_phases(draw, builder)


def _give_phases(draw: DrawFn, builder: GraphBuilder) -> None:
    """Let some calls belong to other phases than forward, and what is in them differentiate what ran before."""
    inner = st.sampled_from(range(1, len(builder.scopes))) if builder.scopes[1:] else None
    for index in draw(st.lists(inner, max_size=3)) if inner is not None else ():
        builder.scopes[index] = replace(builder.scopes[index], phase=draw(st.sampled_from(PHASES[1:])))
    rows = [
        Derivative(index, draw(st.integers(0, index - 1)))
        for index, node in enumerate(builder.nodes)
        if index and builder.scopes[node.parent if node.scope < 0 else node.scope].phase != "forward"
    ]
    builder.derivatives += [row for row in rows if draw(st.booleans())]


def any_graph() -> SearchStrategy[Graph]:
    """Return graphs of all sizes that tests can afford."""
    return st.one_of(graphs(max_nodes=2, max_scopes=1), graphs(), graphs())


@st.composite
def repeating(draw: DrawFn) -> Graph:
    """Return graphs in which the same steps come again and again, in calls or without, now and then with a change."""
    builder = GraphBuilder("Repeating", (("level", "function"),))
    builder.scope("module", path="", cls="Repeating")
    type_ = builder.tensor_type((2,), "float32")
    pool = [builder.node("input", parent=0, name=name, results=[type_])[0] for name in ("x", "y")]
    attrs = (("qualname", "w"),)
    pool += builder.node("param", parent=0, name="w", results=[type_], attrs=attrs)
    parts: list[list[_Ran]] = []
    for part in range(draw(st.integers(1, 4))):
        partners: SearchStrategy[list[_Ran]] = st.sampled_from([[], *parts])
        parts.append(_repeats(draw, builder, f"part{part}", pool, draw(partners), type_))
        made = [value for ran in parts[-1] for value in ran.made]
        pool += [value for value in made if draw(st.booleans())] or made[-1:]
    for value in draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3)):
        builder.node("output", parent=0, name="output", inputs=[value], attrs=(("index", 0),))
    _settle_params(builder)
    return builder.build()


_REFS = st.tuples(st.sampled_from(("before", "inside", "pool", "own", "pool", "partner", "partner")), st.integers(0, 3))
_STEPS = st.tuples(
    st.sampled_from(("a", "b", "__getitem__", "split")),
    st.lists(_REFS, min_size=1, max_size=3),
    st.sampled_from(("", "", "module", "function")),
)
_PROGRAMS: SearchStrategy[Any] = st.recursive(
    st.lists(_STEPS, min_size=1, max_size=4),
    lambda inner: st.lists(st.one_of(_STEPS, st.tuples(st.integers(1, 4), inner)), min_size=1, max_size=3),
    max_leaves=3,
)
"""Small programs: steps, each with its inputs and the scope that it lies in, and loops of programs."""
_SAVED = st.tuples(st.just("partner"), st.integers(0, 5))
_BACKWARD: SearchStrategy[Any] = st.lists(
    st.tuples(
        st.sampled_from(("a", "b")),
        st.lists(_SAVED, min_size=1, max_size=2).map(lambda saved: [("before", 0), *saved]),
        st.sampled_from(("", "module")),
    ),
    min_size=1,
    max_size=3,
)
"""The same of steps that all read what their iteration is paired with."""


class _Ran:
    """What one iteration read, its steps, and what they made."""

    def __init__(self) -> None:
        self.read: list[int] = []
        self.steps: list[int] = []
        self.made: list[int] = []


def _repeats(
    draw: DrawFn, builder: GraphBuilder, path: str, pool: list[int], partners: list[_Ran], type_: int
) -> list[_Ran]:
    """Add iterations of a small program, which may read those of an earlier one in order or in reverse."""
    program: list[Any] = draw(_BACKWARD if bool(partners) and draw(st.booleans()) else _PROGRAMS)
    style, same = draw(st.sampled_from(("call", "steps"))), draw(st.booleans())
    backward = bool(partners) and draw(st.booleans())
    outer = builder.scope("region", path="", cls="backward", parent=0, phase="backward") if backward else 0
    step: int = draw(st.sampled_from((1, -1)))
    partners = partners[::step]
    ran: list[_Ran] = []
    for number in range(draw(st.integers(1, 5))):
        name = path if same else f"{path}.{number}"
        call = number if same else 0
        around = _call(builder, outer, "module", name, "Part", call) if style == "call" else outer
        partner = partners[number] if number < len(partners) else _Ran()
        known = [pool, ran[-1].made if ran else [], partner.read + partner.made]
        ran.append(_Ran())
        _iteration(draw, builder, program, name, (around, number), known, type_, ran[-1])
        if backward:
            builder.derivatives += map(Derivative, ran[-1].steps, partner.steps)
    return ran


def _call(builder: GraphBuilder, parent: int, kind: ScopeKind, path: str, cls: str, call: int = 0) -> int:
    phase = builder.scopes[parent].phase
    return builder.scope(kind, path=path, cls=cls, parent=parent, call=call, phase=phase)


def _iteration(
    draw: DrawFn,
    builder: GraphBuilder,
    program: list[Any],
    name: str,
    place: tuple[int, int],
    known: list[list[int]],
    type_: int,
    ran: _Ran,
) -> None:
    """Add one run of a program.

    `place` is scope and number of the iteration, `known` what there is, what was made before, and what the partner has.
    """
    (around, number), (pool, before, partner) = place, known
    for at, (op, inputs, *scope) in enumerate(program):
        if not scope:
            last: list[int] = []
            for inner in range(op):
                path = f"{name}.{at}.{inner}"
                parent = _call(builder, around, "module", path, "Inner") if len(inputs) > 1 else around
                inside = _Ran()
                known = [[*pool, *ran.made], last, partner]
                _iteration(draw, builder, inputs, path, (parent, inner), known, type_, inside)
                last = inside.made
                ran.read += inside.read
                ran.steps += inside.steps
            ran.made += last
            continue
        parent = around
        if scope[0]:
            parent = _call(builder, around, scope[0], f"{name}.{at}", op)
        read: list[int] = []
        for kind, index in inputs:
            found = {"before": before, "inside": ran.made, "pool": pool, "own": [], "partner": partner}[kind]
            if kind == "own":
                attrs = (("qualname", f"{name}.w{at}"),)
                read += builder.node("param", parent=0, name=attrs[0][1], results=[type_], attrs=attrs)
            else:
                read.append(found[index % len(found)] if found else pool[index % len(pool)])
        changed = draw(st.integers(0, 29)) == 0
        results = [type_] * (2 if op == "split" else 1)
        key = (("key", (":", number)),) if op == "__getitem__" else ()
        ran.steps.append(len(builder.nodes))
        ran.made += builder.node("op", "c" if changed else op, parent=parent, inputs=read, results=results, attrs=key)
        ran.read += read
