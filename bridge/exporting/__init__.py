"""Graphs as documents for others: what a base believes of one graph, at one moment, in the formats of RDF."""
