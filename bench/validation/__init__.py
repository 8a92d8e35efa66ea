"""Validation by shapes, measured beside other validators: a whole graph, one fact, a hub, a fact that ends."""
