"""The page: a graph as an interactive picture in one HTML file."""
