"""Where boxes, frames and edges go: a layered layout of nested scopes, for every backend that draws itself."""
