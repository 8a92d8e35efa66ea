"""SPARQL: what a query asks for, what its caller may read, its evaluation on a store, and its answer as bytes."""
