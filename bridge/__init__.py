"""Adapters between the kernel's atoms and RDF, Oxigraph, SQL and files."""
