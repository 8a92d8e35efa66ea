"""Tests of `kernel.writing`."""
