"""Tests of `kernel.policy.verdicts`."""
