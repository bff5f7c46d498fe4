"""Random programs of views, writes and operators: the graph has the paths that an experiment finds, and no others."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import trec
from tests.capture.paths import Apply, flow, flow_by_experiment
from tests.capture.taints import Real, Shadow, run, union

pytestmark = pytest.mark.torch


def views_of(t: Tensor, chance: random.Random) -> list[Tensor]:
    row = chance.randrange(t.shape[0])
    views = [
        t[::2], t[row:], t[..., :1], t.detach(), t.data, t.reshape(-1), t.view_as(t), t.contiguous(), t.flip(0),
        t.narrow(0, 0, 1), t.unsqueeze(0).squeeze(0), t.expand(2, *t.shape)[0], chance.choice(t.chunk(2)), t.ravel(),
        nn.Parameter(t, requires_grad=False), torch.as_tensor(t), t.to(torch.float32),
        nn.functional.dropout(t, 0.5, False),
    ]  # fmt: skip
    if t.dim() > 1:
        views += [t[row], t[:, 0], t.mT, t.diagonal(), chance.choice(t.unbind())]
    return views


def filled(source: Tensor, like: Tensor) -> Tensor:
    """Return numbers of one tensor in the shape of another."""
    times = -(-like.numel() // source.numel())
    return source.reshape(-1).repeat(times)[: like.numel()].reshape(like.shape)


WRITES: list[Any] = [
    lambda t, source: t.add_(source),
    lambda t, source: t.mul_(source),
    lambda t, source: t.copy_(source),
    lambda t, source: t.__setitem__(slice(None), source),
    lambda t, source: t.__setitem__(0, source[0]),
    lambda t, source: t.zero_(),
    lambda t, source: torch.mul(t, source, out=t),
    lambda t, source: torch.add(source, 1, out=t),
    lambda t, source: t.index_put_((torch.tensor([0]),), source[:1]),
    lambda t, source: t.__setitem__(t > 0, 0.5),
    lambda t, source: torch._foreach_add_([t], [source]),
    lambda t, source: setattr(t, "data", source * 1),
    lambda t, source: t.set_(source.clone()),
    lambda t, source: t[0:1].mul_(3.0),
    lambda t, source: t.fill_(source.sum()),
]


def program(seed: int, steps: int) -> Any:
    def forward(*inputs: Tensor) -> Any:
        chance = random.Random(seed)
        pool = [inputs[0].clone(), *inputs[1:]]
        for _ in range(steps):
            t, kind = chance.choice(pool), chance.random()
            if kind < 0.45:
                pool.append(chance.choice(views_of(t, chance)))
            elif kind < 0.85:
                chance.choice(WRITES)(t, filled(chance.choice(pool), t))
            else:
                pool.append(t * 2.0 + filled(chance.choice(pool), t))
        return [t * 1 for t in chance.sample(pool, min(4, len(pool)))]

    return forward


@pytest.mark.parametrize("level", ["function", "aten"])
@pytest.mark.parametrize("seed", range(40))
def test_no_dependency_is_missing(seed: int, level: Any) -> None:
    def build() -> Any:
        generator = torch.Generator().manual_seed(seed)
        return Apply(program(seed, 15)), tuple(torch.randn(4, 4, generator=generator) for _ in range(3))

    net, args = build()
    before = [tensor.clone() for tensor in args]
    with torch.no_grad():
        graph = trec.capture(net, args=args, level=level).verify()
        missing = flow_by_experiment(build) - flow(graph)
    assert not missing, str(graph)
    assert all(map(torch.equal, args, before))


# ---- by the bytes


def truth(seed: int, steps: int, *, exact: bool) -> set[tuple[str, str]]:
    """Return which inputs are found in which results if each byte remembers where it came from."""
    inputs = [torch.full((4, 4), 1 << position) for position in range(3)]
    results = [union(result) for result in run(random.Random(seed), steps, inputs, Shadow(), exact=exact)]
    return {
        (f"input:{source}", f"output:{target}")
        for target, bits in enumerate(results)
        for source in range(3)
        if bits >> source & 1
    }


def flow_of_program(seed: int, steps: int, level: Any, *, exact: bool) -> set[tuple[str, str]]:
    """Return the same as it is recorded."""
    generator = torch.Generator().manual_seed(seed)
    args = tuple(torch.randn(4, 4, generator=generator, dtype=torch.float64) for _ in range(3))
    before = [tensor.clone() for tensor in args]
    net = Apply(lambda *inputs: run(random.Random(seed), steps, list(inputs), Real(), exact=exact))
    with torch.no_grad():
        graph = trec.capture(net, args=args, level=level).verify()
    assert all(map(torch.equal, args, before))
    return flow(graph)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 30))
def test_the_paths_of_operators_are_those_of_the_bytes(seed: int, steps: int) -> None:
    assert flow_of_program(seed, steps, "aten", exact=True) == truth(seed, steps, exact=True)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 30), exact=st.booleans())
def test_no_path_of_the_bytes_is_missing_between_functions(seed: int, steps: int, exact: bool) -> None:
    assert truth(seed, steps, exact=exact) <= flow_of_program(seed, steps, "function", exact=exact)
