"""What the audit says of bases that are sound, and of bases that somebody has tampered with."""
