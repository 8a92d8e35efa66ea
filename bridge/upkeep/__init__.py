"""What an operator does with a base: copies, dumps, probes, and the one to try things on."""
