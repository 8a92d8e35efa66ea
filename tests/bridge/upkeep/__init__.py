"""Tests of `bridge.upkeep`."""
