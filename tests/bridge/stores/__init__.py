"""Tests of bridge.stores."""
