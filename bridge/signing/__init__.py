"""The keys of a base, and the log that they sign."""
