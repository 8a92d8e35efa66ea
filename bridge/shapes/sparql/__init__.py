"""SHACL-SPARQL: constraints and constraint components that are queries (SHACL sections 5 and 6)."""
