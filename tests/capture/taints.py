"""Random programs over memory, and what flows where in them, told by the bytes themselves.

A program is run twice. For real it computes with numbers. As a shadow it computes with sets of sources, each set the
bits of an integer that stands in place of a number: views, storages and arrays are the same calls of torch on both, so
torch itself says which bytes are shared. An operator yields, in all it writes, the union of what it read.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

FROM_DLPACK: Any = vars(torch)["from_dlpack"]
TO_DLPACK: Any = vars(torch.utils.dlpack)["to_dlpack"]


def union(*tensors: Tensor) -> int:
    """Return the sources of all that the tensors hold."""
    bits = 0
    for tensor in tensors:
        for number in tensor.reshape(-1).tolist():
            bits |= number
    return bits


def whole(tensor: Tensor) -> Tensor:
    """Return all that lies in the storage of a tensor."""
    storage = tensor.untyped_storage()
    return torch.empty(0, dtype=tensor.dtype).set_(storage, 0, (storage.nbytes() // 8,), (1,))


class Real:
    """Runs a program with numbers."""

    def combine(self, *tensors: Tensor) -> Tensor:
        total = tensors[0] * 1.5
        for tensor in tensors[1:]:
            total = total + tensor.sum()
        return total

    def add(self, target: Tensor, source: Tensor) -> None:
        target.add_(source.sum())

    def overwrite(self, target: Tensor, source: Tensor) -> None:
        target.copy_(source.sum())

    def assign(self, target: Tensor, key: Any, source: Tensor) -> None:
        target[key] = source.sum()

    def out(self, target: Tensor, source: Tensor) -> None:
        torch.add(source.sum().expand(target.shape), 1.0, out=target)

    def many(self, targets: list[Tensor], source: Tensor) -> None:
        torch._foreach_add_(targets, [source.sum()] * len(targets))

    def zero(self, target: Tensor) -> None:
        target.zero_()

    def by_numpy(self, target: Tensor) -> None:
        target.numpy()[...] += 1.25

    def replace(self, target: Tensor, source: Tensor) -> None:
        if target.untyped_storage().resizable():  # else an array would be left without its memory
            target.data = self.combine(source)

    def deep(self, tensor: Tensor) -> Tensor:
        return copy.deepcopy(tensor)

    def copied(self, tensor: Tensor, result: Tensor) -> Tensor:
        return result


class Shadow(Real):
    """Runs it with sets of sources."""

    def combine(self, *tensors: Tensor) -> Tensor:
        return torch.full(tensors[0].shape, union(*tensors))

    def add(self, target: Tensor, source: Tensor) -> None:
        target.fill_(union(target, source))

    def overwrite(self, target: Tensor, source: Tensor) -> None:
        target.fill_(union(source))

    def assign(self, target: Tensor, key: Any, source: Tensor) -> None:
        target[key].fill_(union(source))

    def out(self, target: Tensor, source: Tensor) -> None:
        self.overwrite(target, source)

    def many(self, targets: list[Tensor], source: Tensor) -> None:
        bits = union(*targets, source)
        for target in targets:
            target.fill_(bits)

    def zero(self, target: Tensor) -> None:
        target.zero_()

    def by_numpy(self, target: Tensor) -> None:
        target.numpy()  # from now on the storage can no more be resized, as for real
        memory = whole(target)
        memory.fill_(union(memory))

    def deep(self, tensor: Tensor) -> Tensor:
        result = copy.deepcopy(tensor)
        memory = whole(result)
        memory.fill_(union(memory))
        return result

    def copied(self, tensor: Tensor, result: Tensor) -> Tensor:
        if result.untyped_storage()._cdata != tensor.untyped_storage()._cdata:
            result.fill_(union(tensor))
        return result


def _view(t: Tensor, chance: Random, *, exact: bool) -> Tensor:
    row = chance.randrange(max(1, t.shape[0]))
    views: list[Callable[[], Tensor]] = [
        lambda: t[::2], lambda: t[row:], lambda: t[: row + 1], lambda: t[..., :1], lambda: t.detach(), lambda: t.data,
        lambda: t.view_as(t), lambda: t.narrow(0, 0, 1), lambda: t.unsqueeze(0).squeeze(0),
        lambda: t.expand(2, *t.shape)[0], lambda: nn.Parameter(t, requires_grad=False),
        lambda: t.transpose(0, -1),
    ]  # fmt: skip
    if not exact:
        views.append(lambda: torch.as_tensor(t))
    if t.dim() > 1:
        column = chance.randrange(t.shape[1])
        views += [
            lambda: t[row], lambda: t[:, column], lambda: t.mT, lambda: t.diagonal(), lambda: t[1:, 1:],
            lambda: t.select(1, column),
        ]  # fmt: skip
    return chance.choice(views)()


def _alias(t: Tensor, chance: Random) -> Tensor:
    ways: list[Callable[[], Tensor]] = [
        lambda: torch.from_numpy(t.numpy()),
        lambda: torch.from_numpy(np.asarray(t)),
        lambda: FROM_DLPACK(TO_DLPACK(t.detach())),  # t itself may be given other memory, and would take its own along
        lambda: torch.as_tensor(t.numpy()),
        lambda: copy.copy(t),
        lambda: torch.empty(0, dtype=t.dtype).set_(t.untyped_storage(), t.storage_offset(), t.shape, t.stride()),
        lambda: torch.empty(0, dtype=t.dtype).set_(t),  # type: ignore[call-overload]
    ]
    return chance.choice(ways)()


def _parts(t: Tensor, chance: Random) -> Tensor:
    split: Any = t.split
    parts: Any = [lambda: split(1), lambda: t.chunk(2), lambda: t.unbind() if t.dim() > 1 else (t,)]
    part: Tensor = chance.choice(chance.choice(parts)())
    return part


def _same(t: Tensor, chance: Random, ops: Any) -> Tensor:
    ways: Any = [lambda: t.contiguous(), lambda: t.reshape(-1), lambda: t.ravel()]
    result: Tensor = ops.copied(t, chance.choice(ways)())
    return result


def _write(t: Tensor, other: Tensor, third: Tensor, chance: Random, ops: Any) -> None:
    ways: list[Callable[[], None]] = [
        lambda: ops.add(t, other),
        lambda: ops.overwrite(t, other),
        lambda: ops.assign(t, chance.choice([0, slice(0, 1), slice(1, None)]), other),
        lambda: ops.assign(t, chance.choice([slice(None), (Ellipsis, 0)]), other),
        lambda: ops.out(t, other),
        lambda: ops.zero(t),
        lambda: ops.many([t, third], other),
        lambda: ops.by_numpy(t),
        lambda: ops.replace(t, other),
    ]
    chance.choice(ways)()


def run(chance: Random, steps: int, inputs: list[Tensor], ops: Any, *, exact: bool = True) -> list[Tensor]:
    """Run the program that chance makes up, and return some of what it made.

    Args:
        chance: makes the program up, the same each time.
        steps: how many views, copies, operators and writes.
        inputs: what it starts from.
        ops: what it computes with.
        exact: whether to leave out what is one node that has all paths in common: views of several results, and calls
            that may return the very tensor that they were given.
    """
    pool = [ops.combine(inputs[0]), *inputs[1:]]
    for _ in range(steps):
        t, other, third = chance.choice(pool), chance.choice(pool), chance.choice(pool)
        kind = chance.choice(
            ["view"] * 7 + ["same", "alias", "alias", "deep", "combine", "combine", "parts"] + ["write"] * 6
        )
        if kind == "view" or (kind in ("parts", "same") and exact):
            made = _view(t, chance, exact=exact)
        elif kind == "same":
            made = _same(t, chance, ops)
        elif kind == "alias":
            made = _alias(t, chance)
        elif kind == "deep":
            made = ops.deep(t)
        elif kind == "combine":
            made = ops.combine(t, other)
        elif kind == "parts":
            made = _parts(t, chance)
        else:
            _write(t, other, third, chance, ops)
            continue
        if made.numel():  # a view without bytes reads nothing, though its node does
            pool.append(made)
    return chance.sample(pool, min(5, len(pool)))
