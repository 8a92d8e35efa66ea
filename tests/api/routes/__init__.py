"""Tests of `api.routes`."""
