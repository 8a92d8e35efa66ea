"""Tests of `bridge.signing`."""
