"""Tests of `kernel.time`."""
