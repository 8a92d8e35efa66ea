"""Snapshots: stores of moments in the past, made when they are asked for, kept for a while and shared."""
