"""The rows of a graph: immutable records that refer to one another by position.

Each row is written as a short array, so a position in a file has a meaning; fields are only ever appended, with a
default. `gc=False` is safe because no row can be part of a reference cycle, and it is what lets a graph of a million
nodes load without the collector walking it.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

NodeKind = Literal["input", "param", "buffer", "constant", "op", "module", "region", "host", "link", "output"]
"""What a node stands for.

`module` is a collapsed call of a module; `link` is synthetic: its op is `pass`, `update` or `alias`, where the pass
`tensors` made it `tensor`, where `trec.union` made it `either`; `host` is a place where values leave torch for Python
or numpy; `region` is code whose operators could not be seen.
"""

ScopeKind = Literal["module", "function", "region"]
"""What a scope is one call of; `region` is code that is neither a module nor a torch function."""

Phase = Literal["forward", "backward", "optimizer"]
"""What part of a step of training a call belongs to.

`backward` is what autograd runs, and what it has computed again; `optimizer` is the step of one, and what is done to
gradients outside of autograd, such as clipping.
"""

PHASES: tuple[Phase, ...] = ("forward", "backward", "optimizer")

Level = Literal["module", "function", "aten"]
"""How fine a graph is: one node per module call, per torch function, or per ATen operator."""

Scalar = None | bool | int | float | str
Attr = Scalar | tuple[Scalar | tuple[Scalar | tuple[Scalar, ...], ...], ...]
"""A value that is not a tensor: a scalar, or tuples of scalars nested at most three deep.

Floats are finite (infinities and NaN are the texts `inf`, `-inf`, `nan`, as JSON has none of them) and ints fit in 64
bits (a larger one is its hexadecimal text).
"""

AttrRow = tuple[tuple[str, Attr], ...]
"""Named attributes in the order in which they were given."""

NODE_KINDS: tuple[NodeKind, ...] = (
    "input", "param", "buffer", "constant", "op", "module", "region", "host", "link", "output",
)  # fmt: skip
SOURCE_KINDS: frozenset[NodeKind] = frozenset({"input", "param", "buffer", "constant"})
"""Kinds of nodes that take no part in the computation but bring a value into it."""

FLOPS = "flops"
"""Name of the attribute with the floating point operations of a node, a multiplication with an addition counted as two.

It is left out where there are none. They were counted only where `Graph.meta` says `costs`.
"""

SAVED = "saved"
"""Name of the attribute that says how many of the last results of a node are there only because autograd saved them."""

TIMES = "times"
"""Name of the attribute that says how many equal ones a parameter, buffer or constant stands for in one run of what it
lies in.

It is left out where that is one. The calls that have one each became one node, in which it cannot lie.
"""

ROLLED = "rolled"
"""Name of the attribute of a scope that says that all calls which it stands for read the same parameters, buffers and
constants, as a cell that was called many times; it is left out where they do not."""

UNKNOWN = "?"
"""The size of a dimension that is ragged or was not known."""


class TensorType(Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """Shape, element type and place of a tensor."""

    shape: tuple[int | str, ...]
    """Sizes in elements; a symbolic size is its name, an unknown or ragged one `?`."""
    dtype: str
    """Element type without the `torch.` prefix, such as `float32`."""
    device: str = "cpu"
    """Where the tensor lies, such as `cpu` or `cuda:0`."""
    layout: str = "strided"
    """Memory layout without the `torch.` prefix: `strided`, `sparse_coo`, `jagged`, ..."""


class Value(Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """A tensor at one moment: produced once, used any number of times."""

    type: int
    """Index into `Graph.types`."""
    name: str
    """The name of the node that first produced it, with `:port` where that node has several results."""


class Source(Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """A place in the source code."""

    file: str
    """Path relative to the root of the package that holds the file, or the bare file name."""
    line: int
    """Line number, from 1."""


class Scope(Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """One call of a module or function; two calls of one module are two scopes."""

    kind: ScopeKind
    name: str
    """Unique among scopes and nodes: the path, with `#n` for the n-th call; the graph's name for the root."""
    path: str
    """Qualified path of the (enclosing) module, empty for the root."""
    cls: str
    """Class of the module, or name of the function."""
    call: int
    """0 for the first call of that module, 1 for the second, ..."""
    parent: int
    """Index into `Graph.scopes` of the scope that the call was made in; -1 for the root."""
    depth: int
    """Number of modules around it; a function or region has the depth of an operator called in its place."""
    attrs: int = 0
    """Index into `Graph.attrs`: constructor arguments of a module, arguments of a function."""
    source: int = -1
    """Index into `Graph.sources` of the line that made the call; -1 if unknown."""
    inputs: tuple[int, ...] = ()
    """Function scopes: indices into `Graph.values` of the tensors it was given, in the order of its arguments."""
    outputs: tuple[int, ...] = ()
    """Function scopes: indices into `Graph.values` of the tensors it returned, in order."""
    repeats: tuple[str, ...] = ()
    """Names of the equal calls after it that it stands for as well, in order; what it holds ran once more for each."""
    phase: Phase = "forward"
    """What part of a step of training it belongs to, and with it every node in it."""


class Node(Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """One step of the program, or a value that enters or leaves it."""

    kind: NodeKind
    op: str
    """Short name of the function (`conv2d`), full name of the operator (`aten.convolution.default`), class of a
    collapsed module, else the kind."""
    name: str
    """Unique among nodes and scopes, and the same in every run; a collapsed node has the name of its scope."""
    parent: int
    """Index into `Graph.scopes` of the scope that holds it."""
    depth: int
    """One more than the depth of the innermost module around it."""
    inputs: tuple[int, ...]
    """Indices into `Graph.values`, one entry per use; the position is the port."""
    outputs: tuple[int, ...]
    """Indices into `Graph.values`; the position is the port."""
    attrs: int = 0
    """Index into `Graph.attrs`."""
    source: int = -1
    """Index into `Graph.sources`; -1 if unknown."""
    scope: int = -1
    """Index into `Graph.scopes` of the call that a collapsed node stands for; -1 for any other node."""


class Carried(Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """A value that one iteration of a rolled loop hands to the next, or that a later one reads of what is outside."""

    value: int
    """Index into `Graph.values`."""
    node: int
    """Index into `Graph.nodes` of the node that reads it in the next iteration."""
    port: int
    """Position among the inputs of that node of what it reads instead in the first iteration; -1 if that is inside."""
    loop: int = -1
    """Index into `Graph.scopes` of the scope that stands for the iterations; -1 if unknown."""


class Derivative(Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """Which node an operator of a backward pass differentiates; a collapsed call has a row for each."""

    node: int
    """Index into `Graph.nodes` of the operator."""
    forward: int
    """Index into `Graph.nodes` of the node that it differentiates, which ran before it."""


class Lifetime(Struct, frozen=True, gc=False):
    """How long memory that a step made was there in the recorded run; never part of a file."""

    values: tuple[str, ...]
    """Names of the values that lay in it, in the order in which they were made; none if only `maker` needed it."""
    node: str
    """Name of the last node that ran before it was given back; empty if it was there to the end."""
    bytes: int
    """Its size; of what one node needed only while it ran, the most at once, beyond its results."""
    maker: str
    """Name of the node that made it."""
    held: str = ""
    """Name of the last node at which it was surely held, where `node` may be too late; else empty."""


class Note(Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """A fact of a recording that no node tells; it refers to nothing by position, so passes carry it as it is."""

    kind: str
    """What it is about: `unused_param`, `unused_buffer`, `uncalled_module`, `unseen_thread` or `not_restored`."""
    name: str
    """Qualified name of the parameter, buffer or module; empty where it is about no single one."""
    text: str
    """What is to be said about it, in a few words."""
