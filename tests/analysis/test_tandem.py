from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trec.analysis.tandem import Run, tandem_runs


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("", []),
        ("abc", []),
        ("aaaa", [(0, 1, 4)]),
        ("xababy", [(1, 2, 2)]),
        ("abcabcab", [(0, 3, 2)]),
        ("aabaabaab", [(0, 3, 3)]),
        ("abbbbcabbbbc", [(0, 6, 2)]),
        ("aabbxccc", [(5, 1, 3), (0, 1, 2), (2, 1, 2)]),
    ],
)
def test_runs(text: str, runs: list[tuple[int, int, int]]) -> None:
    assert list(tandem_runs(list(map(ord, text)))) == [Run(*run) for run in runs]


@given(st.lists(st.integers(0, 3), max_size=40))
def test_runs_repeat_and_do_not_overlap(items: list[int]) -> None:
    taken: set[int] = set()
    for run in tandem_runs(items):
        assert run.count > 1
        for at in range(run.start, run.end - run.period):
            assert items[at] == items[at + run.period]
        assert taken.isdisjoint(range(run.start, run.end))
        taken.update(range(run.start, run.end))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=5), st.integers(3, 9))
def test_what_is_there_three_times_is_found(part: list[int], count: int) -> None:
    saved = max((run.saved for run in tandem_runs(part * count)), default=0)
    assert saved >= len(part) * (count - 1)


@given(st.lists(st.integers(), min_size=1, max_size=8, unique=True))
def test_what_is_there_twice_is_found_if_nothing_is_twice_in_it(part: list[int]) -> None:
    assert list(tandem_runs(part * 2)) == [Run(0, len(part), 2)]
