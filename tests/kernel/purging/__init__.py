"""Tests of `kernel.purging.purger`."""
