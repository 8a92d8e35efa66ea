"""Shapes: SHACL Core on every write, compiled, and judged on the neighbourhood of what changes."""
