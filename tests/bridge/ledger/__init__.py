"""Tests of bridge.ledger."""
