"""Registered queries: which of them a plan can touch, and what becomes of their answers."""
