"""What is signed and how it is proved; usable alone."""
