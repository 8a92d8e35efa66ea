"""Purges of a base: asked for and carried out, erased from every file, and receipted."""
