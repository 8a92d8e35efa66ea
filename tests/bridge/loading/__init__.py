"""Tests of bridge.loading."""
