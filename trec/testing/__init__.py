"""Assertions about graphs for the tests of users, and a plugin for pytest."""

from trec.testing.assertions import assert_matches as assert_matches
from trec.testing.assertions import assert_no as assert_no

__all__ = ["assert_matches", "assert_no"]
