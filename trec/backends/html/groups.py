"""The named groups of operators of a graph, for the queries of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.groups import CASTS, DROPOUTS, IDENTITIES, VIEWS, is_in_place, short_op

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES = {"view": VIEWS, "cast": CASTS, "identity": IDENTITIES, "dropout": DROPOUTS}


def groups(ops: Iterable[str]) -> dict[str, list[str]]:
    """Return for each group that `is:` can be followed by which of the operators are of it.

    Example:
        >>> groups(["view", "relu_"])
        {'view': ['view'], 'cast': [], 'identity': [], 'dropout': [], 'inplace': ['relu_']}
    """
    distinct = list(dict.fromkeys(ops))
    found = {group: [op for op in distinct if short_op(op) in names] for group, names in _NAMES.items()}
    return found | {"inplace": [op for op in distinct if is_in_place(op)]}
