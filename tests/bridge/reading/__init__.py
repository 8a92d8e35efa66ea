"""Tests of `bridge.reading.reader`."""
