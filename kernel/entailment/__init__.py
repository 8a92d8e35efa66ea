"""What follows from what is stated: the rules of OWL 2 RL and RDFS, and the engine that keeps their consequences."""
