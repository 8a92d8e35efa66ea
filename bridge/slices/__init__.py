"""Slices: the few facts that a selective query at some moment is answered from."""
