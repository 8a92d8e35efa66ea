"""What differs between two moments of a base."""
