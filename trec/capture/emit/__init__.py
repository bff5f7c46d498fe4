"""From what was written down to the graph."""
