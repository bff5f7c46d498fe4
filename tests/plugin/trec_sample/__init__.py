"""A pass and a backend that are not part of trec."""
