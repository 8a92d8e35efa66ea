"""Tests of `kernel.rules.amending`."""
