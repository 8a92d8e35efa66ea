"""What the service answers to, one resource a module, with what only they need."""
