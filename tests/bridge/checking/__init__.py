"""Tests of `bridge.checking.files`."""
