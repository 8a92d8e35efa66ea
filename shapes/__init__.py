"""SHACL shapes for Muniment's own records, as data files."""
