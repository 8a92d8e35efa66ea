"""Entailment in a base: what follows from what holds at a moment, kept in a process of its own."""
