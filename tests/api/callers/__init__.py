"""Tests of `api.callers`."""
