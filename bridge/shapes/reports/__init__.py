"""Validation reports: as RDF (Turtle, N-Triples, JSON-LD), as SARIF 2.1.0, and in words."""
