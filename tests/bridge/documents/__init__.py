"""Tests of bridge.documents."""
