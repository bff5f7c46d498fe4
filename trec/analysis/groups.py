"""Named groups of operators, for selectors: what changes no number, or only where and how it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph
    from trec.ir.types import Node

VIEWS = frozenset({
    "__getitem__", "_reshape_alias", "_unsafe_view", "adjoint", "as_strided", "atleast_1d", "atleast_2d",
    "atleast_3d", "broadcast_to", "chunk", "diagonal", "dsplit", "expand", "expand_as", "flatten", "H", "hsplit",
    "imag", "mH", "moveaxis", "movedim", "mT", "narrow", "numpy_T", "permute", "ravel", "real", "reshape",
    "reshape_as", "select", "slice", "split", "split_with_sizes", "squeeze", "swapaxes", "swapdims", "t", "T",
    "tensor_split", "transpose", "unbind", "unflatten", "unfold", "unsafe_chunk", "unsafe_split", "unsqueeze", "view",
    "view_as", "view_as_complex", "view_as_real", "vsplit",
})  # fmt: skip
"""Operators that yield the same numbers, or some of them, in another shape."""

CASTS = frozenset({
    "_to_copy", "bfloat16", "bool", "byte", "cdouble", "cfloat", "chalf", "char", "cpu", "cuda", "double", "float",
    "half", "int", "long", "short", "to", "type", "type_as",
})  # fmt: skip
"""Operators that change how or where numbers are stored."""

IDENTITIES = frozenset({
    "alias", "clone", "contiguous", "detach", "detach_", "identity", "lift_fresh", "positive", "requires_grad_",
    "resolve_conj", "resolve_neg",
})  # fmt: skip
"""Operators that yield what they read."""

DROPOUTS = frozenset({
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "dropout_", "feature_alpha_dropout",
    "feature_dropout",
})  # fmt: skip
"""Operators that leave out numbers at random while a model is trained."""


def short_op(op: str) -> str:
    """Return the short name of an operator: `conv2d` of `conv2d`, `relu` of `aten.relu.default`."""
    parts = op.split(".")
    return parts[1] if len(parts) > 1 and parts[1] else op


OVERWRITERS = frozenset({
    "_foreach_copy_", "_foreach_zero_", "bernoulli_", "cauchy_", "copy_", "exponential_", "eye_", "fill_", "geometric_",
    "log_normal_", "normal_", "random_", "set_", "uniform_", "zero_",
})  # fmt: skip
"""Operators that write in place, and do not read what stood there."""

_WRITERS = frozenset({
    "__iadd__", "__iand__", "__ifloordiv__", "__ilshift__", "__imatmul__", "__imod__", "__imul__", "__ior__",
    "__ipow__", "__irshift__", "__isub__", "__itruediv__", "__ixor__", "__setitem__",
})  # fmt: skip


def is_in_place(op: str) -> bool:
    """Return whether an operator writes into its first argument, by its name."""
    name = short_op(op)
    return name in _WRITERS if name.startswith("__") else name.endswith("_")


def _is_off(graph: Graph, node: Node) -> bool:
    attrs = graph.attrs_of(node)
    return attrs.get("training") is False or attrs.get("train") is False or attrs.get("p") in (0, 0.0)


GROUPS: dict[str, Callable[[Graph, Node], bool]] = {
    "view": lambda _, node: node.kind == "op" and short_op(node.op) in VIEWS,
    "cast": lambda _, node: node.kind == "op" and short_op(node.op) in CASTS,
    "identity": lambda _, node: (
        (node.kind == "link" and node.op in ("pass", "alias", "tensor"))
        or (node.kind == "op" and short_op(node.op) in IDENTITIES)
        or (node.kind == "module" and node.op == "Identity")
    ),
    "dropout": lambda graph, node: node.kind == "op" and short_op(node.op) in DROPOUTS and _is_off(graph, node),
    "inplace": lambda _, node: node.kind == "op" and is_in_place(node.op),
}
"""What `is:` can be followed by, and whether a node is of that group; `dropout` is only what is switched off."""
