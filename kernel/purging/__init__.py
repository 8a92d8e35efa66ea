"""What must not exist is taken out, and does not come back."""
