"""Tests of `bridge.review`."""
