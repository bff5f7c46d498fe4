"""What differs between runs as one value: alternatives, in the order of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.ir.types import UNKNOWN, TensorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.ir.types import Attr, AttrRow


def any_type(types: Sequence[TensorType]) -> TensorType:
    """Return the type of a tensor that has one of these types.

    Example:
        >>> any_type([TensorType((2, 8), "float32"), TensorType((2, 16), "float32")]).shape
        (2, '8|16')
    """
    first = types[0]
    if all(type_ == first for type_ in types):
        return first
    if len({len(type_.shape) for type_ in types}) == 1:
        shape = tuple([_any_size(sizes) for sizes in zip(*[type_.shape for type_ in types], strict=True)])
    else:
        shape = (UNKNOWN,)
    dtypes = {type_.dtype for type_ in types}
    return TensorType(shape, first.dtype if len(dtypes) == 1 else UNKNOWN, first.device, first.layout)


def _any_size(sizes: Sequence[int | str]) -> int | str:
    distinct = _distinct(sizes)
    return sizes[0] if len(distinct) == 1 else "|".join(distinct)


def _distinct(values: Sequence[object]) -> list[str]:
    """Return the texts of distinct values, those of alternatives apart."""
    return list(dict.fromkeys([part for value in values for part in str(value).split("|")]))


def any_attr(values: Sequence[Attr]) -> Attr:
    """Return one attribute that says what it is in any run; tuples of one length are joined entry by entry.

    Example:
        >>> any_attr([(2, 8), (2, 16)]), any_attr([True, False])
        ((2, '8|16'), 'True|False')
    """
    first = values[0]
    if all(repr(value) == repr(first) for value in values):
        return first
    tuples = [value for value in values if isinstance(value, tuple)]
    if len(tuples) == len(values) and len(set(map(len, tuples))) == 1:
        return tuple([any_attr(entries) for entries in zip(*tuples, strict=True)])  # type: ignore[misc]
    return "|".join(_distinct(values))


def any_row(rows: Sequence[AttrRow]) -> AttrRow:
    """Return the attributes that any of the rows has, each once."""
    if all(row == rows[0] for row in rows):
        return rows[0]
    names = dict.fromkeys([name for row in rows for name, _ in row])
    tables = [dict(row) for row in rows]
    return tuple([(name, any_attr([table[name] for table in tables if name in table])) for name in names])
