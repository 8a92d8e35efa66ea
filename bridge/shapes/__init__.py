"""Shapes: SHACL Core on every write, compiled, and judged on the neighbourhood of what changes."""

from bridge.shapes.checker import CoreChecker

__all__ = ["CoreChecker"]
