"""What is known of a member of a scope when it is laid out with others."""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    """What matters of a member where it is laid out with others."""

    width: float
    height: float
    length: int
    """How many layers are in it."""
    ports: bool
    """Whether nets may arrive and leave anywhere along its border, which they do at one point of a circle."""
    loop: float
    """Room at its right side for a net that returns to it; 0 without one."""
    first: bool
    """Whether it stands where the flow begins."""
    into: tuple[float, ...] = ()
    """For a scope, how far right of its middle each net enters."""
    out: tuple[float, ...] = ()
    """For a scope, how far right of its middle each net leaves."""
    into_ways: tuple[int, ...] = ()
    """For a scope, how many layers the longest way from each net that enters passes."""
    out_ways: tuple[int, ...] = ()
    """For a scope, how many layers the longest way to each net that leaves passes."""
