"""Shapes: SHACL Core on every write, judged by pySHACL on the neighbourhood of what changes."""

from bridge.shapes.checker import PyShaclChecker

__all__ = ["PyShaclChecker"]
