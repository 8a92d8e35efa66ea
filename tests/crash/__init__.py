"""Bases whose process is killed."""
