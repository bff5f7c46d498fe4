"""Which clusters lie in which."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.backends.drawing import Cluster


class Nesting:
    """The tree of the clusters of a drawing."""

    def __init__(self, clusters: Iterable[Cluster]) -> None:
        self._parents = [cluster.parent for cluster in clusters]
        self._depths: list[int] = []
        for parent in self._parents:
            self._depths.append(0 if parent < 0 else self._depths[parent] + 1)

    def common(self, one: int, other: int) -> int:
        """Return the innermost cluster around two clusters; -1 if there is none."""
        while one != other:
            if other < 0 or (one >= 0 and self._depths[one] >= self._depths[other]):
                one = self._parents[one]
            else:
                other = self._parents[other]
        return one

    def leaves(self, source: int, target: int) -> bool:
        """Tell whether an edge from one cluster to another goes out of the first."""
        depths, parents = self._depths, self._parents
        while target >= 0 and source >= 0 and depths[target] > depths[source]:
            target = parents[target]
        return source >= 0 and target != source
