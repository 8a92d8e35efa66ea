"""The vocabulary, JSON-LD contexts and rule tables, as data files."""
