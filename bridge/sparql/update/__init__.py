"""SPARQL 1.1 Update: a request read into operations, and what they come to over a base."""
