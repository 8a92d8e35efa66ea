"""Other validators, each run in an environment of its own."""
